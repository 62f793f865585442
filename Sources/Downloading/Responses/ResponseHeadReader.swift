import HTTPTypes
import Text

/// Parses and checks a response header line by line; libcurl accepts folded fields and endless headers.
struct ResponseHeadReader {
    private static let maximumLines = 100
    private static let maximumBytes = 64 << 10
    private static let maximumInterimResponses = 8

    private var lines = 0
    private var bytes = 0
    private var interimResponses = 0
    private var status: Int?
    private var fields: HTTPFields = [:]
    private var isComplete = false

    /// Returns the header if this line completes it; counts and drops the lines of trailers.
    mutating func read(_ line: Span<UInt8>) throws(DownloadError) -> ResponseHead? {
        // Do not count the status line and the empty line.
        if status != nil, line.count > 2 { lines += 1 }
        bytes += line.count
        guard lines <= Self.maximumLines, bytes <= Self.maximumBytes else {
            throw .protocolError("the header is too large")
        }
        if isComplete { return nil }
        var end = line.count
        while end > 0, line[end - 1] == 0x0a || line[end - 1] == 0x0d { end -= 1 }
        for index in 0..<end where line[index] == 0 || line[index] == 0x0d {
            throw .protocolError("a control character in the header")
        }
        guard let status else {
            self.status = try Self.status(line.extracting(0..<end))
            return nil
        }
        if end > 0 {
            fields.append(try Self.field(line.extracting(0..<end)))
            return nil
        }
        guard status < 200 else {
            isComplete = true
            return try ResponseHead(status: status, fields: fields)
        }
        interimResponses += 1
        guard status != 101, interimResponses <= Self.maximumInterimResponses else {
            throw .protocolError("too many interim responses")
        }
        self.status = nil
        fields = [:]
        return nil
    }

    /// Parses `HTTP/1.x` and a status of a known class (RFC 9112 section 4).
    private static func status(_ line: Span<UInt8>) throws(DownloadError) -> Int {
        let version = Array("HTTP/1.".utf8)
        var isStatusLine = line.count >= 12
        for (index, byte) in version.enumerated() where isStatusLine { isStatusLine = line[index] == byte }
        guard isStatusLine, line[8] == 0x20, line.count == 12 || line[12] == 0x20 else {
            throw .protocolError("not an HTTP/1 status line")
        }
        var status = 0
        for index in 9..<12 {
            guard line[index].isASCIIDigit else { throw .protocolError("an invalid status") }
            status = status * 10 + Int(line[index] - UInt8(ascii: "0"))
        }
        guard (100...599).contains(status) else { throw .protocolError("status \(status)") }
        return status
    }

    private static func field(_ line: Span<UInt8>) throws(DownloadError) -> HTTPField {
        guard line[0] != 0x20, line[0] != 0x09 else { throw .protocolError("a folded field") }
        var colon = 0
        while colon < line.count, line[colon] != UInt8(ascii: ":") { colon += 1 }
        guard colon < line.count, let name = HTTPField.Name(text(line.extracting(0..<colon))) else {
            throw .protocolError("a field without a name")
        }
        var start = colon + 1
        var end = line.count
        while start < end, line[start] == 0x20 || line[start] == 0x09 { start += 1 }
        while end > start, line[end - 1] == 0x20 || line[end - 1] == 0x09 { end -= 1 }
        return HTTPField(name: name, value: text(line.extracting(start..<end)))
    }

    private static func text(_ bytes: Span<UInt8>) -> String {
        var text = ""
        text.reserveCapacity(bytes.count)
        for index in bytes.indices { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
        return text
    }
}
