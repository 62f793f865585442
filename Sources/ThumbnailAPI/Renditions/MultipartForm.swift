package import Dialects
import Glibc
import HTTPTypes
package import Memory
package import Text

/// `multipart/form-data` (RFC 7578), split into its parts; nothing is copied or decoded.
///
/// Strict: each part needs a name and its own closing delimiter; fields are few and short, as browsers and curl write
/// them. Text before the first delimiter and after the last one is ignored (RFC 2046 section 5.1.1). The time is
/// proportional to the length of the body.
package struct MultipartForm {
    package struct Part: Equatable {
        package let name: ExactText
        package let isFile: Bool
        package let content: Range<Int>
    }

    package let parts: [Part]

    private static let maximumParts = 16
    private static let longestHeader = 4_096
    private static let longestBoundary = 70

    init(_ body: Span<UInt8>, boundary: String) throws(APIError) {
        // The first delimiter needs no line end before it.
        let delimiter = Array("\r\n--\(boundary)".utf8)
        let opening = Array(delimiter.dropFirst(2))
        var parts: [Part] = []
        let search = ByteSearch(delimiter)
        var offset = opening.count
        if !Self.begins(body, with: opening) {
            guard let first = search.first(in: body, from: 0) else { throw Self.fault("It has no boundary.") }
            offset = first + delimiter.count
        }
        while !Self.isEnd(body, at: offset) {
            guard parts.count < Self.maximumParts else {
                throw Self.fault("It has more than \(Self.maximumParts) fields.")
            }
            guard let start = Self.lineEnd(body, at: offset) else {
                throw Self.fault("A boundary is not followed by a line end.")
            }
            guard let headerEnd = Self.headerEnd(body, from: start) else {
                throw Self.fault("A field's header does not end.")
            }
            guard let next = search.first(in: body, from: headerEnd.next) else {
                throw Self.fault("A field does not end.")
            }
            parts.append(try Self.part(body, header: start..<headerEnd.end, content: headerEnd.next..<next))
            offset = next + delimiter.count
        }
        self.parts = parts
    }

    package init(_ body: SharedBytes, boundary: String) throws(APIError) {
        self = try unsafe body.withUnsafeBytes { bytes throws(APIError) in
            let bytes = unsafe UnsafeBufferPointer(
                start: bytes.assumingMemoryBound(to: UInt8.self).baseAddress, count: bytes.count)
            return try MultipartForm(unsafe bytes.span, boundary: boundary)
        }
    }

    /// Returns the boundary; nil if the type is not `multipart/form-data` with one (RFC 2046 section 5.1.1).
    package static func boundary(in contentType: String) -> String? {
        guard MediaType(contentType)?.description == "multipart/form-data" else { return nil }
        for parameter in HTTPSyntax.list(contentType, separator: UInt8(ascii: ";")).dropFirst() {
            let name = HTTPSyntax.trimmed(parameter.prefix(before: UInt8(ascii: "="))).asciiLowercased
            guard name == "boundary" else { continue }
            var value = HTTPSyntax.trimmed(parameter.suffix(after: UInt8(ascii: "=")) ?? "")
            let isQuoted = value.hasPrefix("\"") && value.hasSuffix("\"") && value.utf8.count > 1
            if isQuoted { value = HTTPSyntax.unquoted(value) }
            // A quoted boundary may contain spaces but must not end with one.
            let isAllowed = value.hasOnlyBytes {
                $0.isVisibleASCII && $0 != UInt8(ascii: "\"") || $0 == 0x20 && isQuoted
            }
            let isComplete = 1...longestBoundary ~= value.utf8.count && value.utf8.last != 0x20
            return isAllowed && isComplete ? value : nil
        }
        return nil
    }

    private static func fault(_ reason: String) -> APIError { .badBody("", "The form cannot be read. \(reason)") }

    private static func begins(_ body: Span<UInt8>, with text: [UInt8]) -> Bool {
        guard body.count >= text.count else { return false }
        for index in text.indices where body[index] != text[index] { return false }
        return true
    }

    private static func lineEnd(_ body: Span<UInt8>, at offset: Int) -> Int? {
        var offset = offset
        while offset < body.count, body[offset] == 0x20 || body[offset] == 0x09 { offset += 1 }
        guard offset + 1 < body.count, body[offset] == 0x0d, body[offset + 1] == 0x0a else { return nil }
        return offset + 2
    }

    private static func isEnd(_ body: Span<UInt8>, at offset: Int) -> Bool {
        guard offset + 1 < body.count, body[offset] == UInt8(ascii: "-"), body[offset + 1] == UInt8(ascii: "-") else {
            return false
        }
        return lineEnd(body, at: offset + 2) != nil || isBlank(body, from: offset + 2)
    }

    private static func isBlank(_ body: Span<UInt8>, from offset: Int) -> Bool {
        for offset in offset..<body.count where ![0x20, 0x09, 0x0d, 0x0a].contains(body[offset]) { return false }
        return true
    }

    private static func headerEnd(_ body: Span<UInt8>, from start: Int) -> (end: Int, next: Int)? {
        let limit = min(body.count - 3, start + longestHeader)
        var offset = start
        while offset < limit {
            if body[offset] == 0x0d, body[offset + 1] == 0x0a, body[offset + 2] == 0x0d, body[offset + 3] == 0x0a {
                return (offset, offset + 4)
            }
            offset += 1
        }
        return nil
    }

    private static func part(_ body: Span<UInt8>, header: Range<Int>, content: Range<Int>) throws(APIError) -> Part {
        guard let text = String(validating: header.map { body[$0] }, as: UTF8.self) else {
            throw fault("A header is not UTF-8.")
        }
        for line in text.split(separator: "\r\n") {
            guard line.prefix(before: UInt8(ascii: ":")).asciiLowercased == "content-disposition",
                let value = line.suffix(after: UInt8(ascii: ":"))
            else { continue }
            let members = HTTPSyntax.list(String(value), separator: UInt8(ascii: ";"))
            guard members.first.map({ HTTPSyntax.trimmed($0[...]).asciiLowercased }) == "form-data" else { break }
            var name: String?
            var isFile = false
            for member in members.dropFirst() {
                let key = HTTPSyntax.trimmed(member.prefix(before: UInt8(ascii: "="))).asciiLowercased
                if key == "filename" || key == "filename*" { isFile = true }
                guard key == "name", name == nil else { continue }
                let quoted = HTTPSyntax.trimmed(member.suffix(after: UInt8(ascii: "=")) ?? "")
                name = quoted.hasPrefix("\"") && quoted.hasSuffix("\"") ? String(quoted.dropFirst().dropLast()) : quoted
            }
            if let name { return Part(name: ExactText(name), isFile: isFile, content: content) }
            break
        }
        throw fault("A field has no name.")
    }
}

/// Finds a text in linear time (Knuth, Morris and Pratt, 1977).
private struct ByteSearch {
    private let text: [UInt8]
    /// For each prefix of the text, the length of its longest proper prefix that is also its suffix.
    private let borders: [Int]

    init(_ text: [UInt8]) {
        self.text = text
        var borders = [Int](repeating: 0, count: text.count)
        var length = 0
        for index in text.indices.dropFirst() {
            while length > 0, text[index] != text[length] { length = borders[length - 1] }
            if text[index] == text[length] { length += 1 }
            borders[index] = length
        }
        self.borders = borders
    }

    func first(in bytes: Span<UInt8>, from start: Int) -> Int? {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return nil }
            var matched = 0
            var index = start
            while index < bytes.count {
                if matched == 0 {
                    // `memchr` skips to the first byte, which rules out nearly all positions.
                    guard let match = unsafe memchr(base + index, Int32(text[0]), bytes.count - index) else {
                        return nil
                    }
                    index = unsafe UnsafeRawPointer(match) - UnsafeRawPointer(base)
                }
                let byte = unsafe bytes[index]
                while matched > 0, byte != text[matched] { matched = borders[matched - 1] }
                if byte == text[matched] { matched += 1 }
                index += 1
                if matched == text.count { return index - matched }
            }
            return nil
        }
    }
}
