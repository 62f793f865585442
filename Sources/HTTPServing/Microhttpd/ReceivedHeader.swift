import CMicrohttpdShim
import Coordination
import Glibc
import HTTPTypes

/// A header in the connection's buffer, during the library's first call of the handler.
///
/// The library splits the header in place, replaces colons and line ends with zero bytes, and reports where each name
/// and value begins. Folded lines, bare line feeds, zero bytes and stray spaces all leave gaps, so a header is
/// well-formed if its parts are adjacent.
@safe
struct ReceivedHeader {
    enum Outcome {
        case request(HTTPRequest)
        /// The request has a body; `length` is nil if it is chunked.
        case requestWithBody(HTTPRequest, length: Int?, BodyPolicy)
        case rejection(HTTPRejection)
    }

    /// The bytes from the request line to the empty line, inclusive.
    let size: Int
    private let connection: OpaquePointer
    private let method: UnsafePointer<CChar>
    private let version: UnsafePointer<CChar>

    @unsafe
    init(connection: OpaquePointer, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>) {
        unsafe self.connection = connection
        unsafe self.method = method
        unsafe self.version = version
        size = unsafe CMicrohttpdShim_header_size(connection)
    }

    /// The header from the method to the empty line; the library has overwritten two characters of the target.
    var bytes: UnsafeBufferPointer<UInt8> { unsafe method.bytes(size) }

    /// - Parameters:
    ///   - target: The target in the request line.
    ///   - responder: Decides which requests may have bodies.
    func read(
        target: ReceivedTarget, within limits: HTTPServerConfiguration, for responder: any RequestResponder
    ) -> Outcome {
        if target.length > limits.maximumTargetLength { return .rejection(.targetTooLong) }
        guard let text = target.text, let name = methodName(before: target) else { return .rejection(.badRequest) }
        // The method, the target, "HTTP/1.x", two spaces and two line ends are not fields.
        let fieldsLength = size - name.utf8.count - target.length - 14
        guard fieldsLength <= limits.maximumFieldsLength else { return .rejection(.fieldsTooLarge) }
        return unsafe withFields(atMost: limits.maximumFieldCount) { received in
            guard let received = unsafe received else { return .rejection(.fieldsTooLarge) }
            guard let fields = unsafe fields(received) else { return .rejection(.badRequest) }
            let request = HTTPRequest(method: HTTPRequest.Method(rawValue: name), target: text, headerFields: fields)
            let isVersion10 = unsafe version[7] == CChar(bitPattern: UInt8(ascii: "0"))
            // GET and HEAD have no body, so skip their route lookup.
            let mayHaveBody = request.method != .get && request.method != .head
            let bodyPolicy = mayHaveBody ? responder.bodyPolicy(for: request) : nil
            let decision = RequestRules.decision(
                on: request, isVersion10: isVersion10, maximumBodyLength: bodyPolicy?.maximumLength ?? 0)
            switch decision {
            case .accept(let length):
                if let bodyPolicy, length > 0 { return .requestWithBody(request, length: length, bodyPolicy) }
                // Compare lengths first: nearly all headers have no field as long as "Expect".
                if unsafe received.contains(where: { unsafe $0.name_length == 6 }) {
                    unsafe CMicrohttpdShim_ignore_expectation(connection)
                }
                return .request(request)
            case .acceptChunks:
                return bodyPolicy.map { .requestWithBody(request, length: nil, $0) } ?? .rejection(.badRequest)
            case .reject(let rejection): return .rejection(rejection)
            }
        }
    }

    /// Returns the method; nil unless it is a token and one space separates it from the target.
    private func methodName(before target: ReceivedTarget) -> String? {
        let start = unsafe UInt(bitPattern: method)
        guard target.position > start, unsafe UInt(bitPattern: version) == target.position + UInt(target.length) + 1
        else { return nil }
        let bytes = unsafe method.bytes(Int(target.position - start) - 1)
        guard unsafe !bytes.isEmpty && bytes.allSatisfy(HTTPSyntax.isToken) else { return nil }
        return unsafe String(decoding: bytes, as: UTF8.self)
    }

    /// Returns nil if there are more than `maximumCount` fields.
    private func withFields(
        atMost maximumCount: Int, _ body: (UnsafeBufferPointer<CMicrohttpdShim_field>?) -> Outcome
    ) -> Outcome {
        unsafe withUnsafeTemporaryAllocation(of: CMicrohttpdShim_field.self, capacity: maximumCount) { buffer in
            let count = unsafe CMicrohttpdShim_fields(connection, buffer.baseAddress, maximumCount)
            return unsafe body(count > maximumCount ? nil : UnsafeBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Returns nil if a field is malformed, or if the fields leave gaps in the header.
    @unsafe
    private func fields(_ received: UnsafeBufferPointer<CMicrohttpdShim_field>) -> HTTPFields? {
        var fields = HTTPFields()
        fields.reserveCapacity(received.count)
        var place = unsafe version + 10
        for index in received.indices {
            guard let field = unsafe received[index].field(at: place) else { return nil }
            fields.append(field)
            unsafe place = received[index].lineEnd
        }
        return unsafe place + 2 == method + size ? fields : nil
    }
}

extension CMicrohttpdShim_field {
    /// Returns nil if the line does not begin at `place` or is malformed.
    @unsafe
    fileprivate func field(at place: UnsafePointer<CChar>) -> HTTPField? {
        let gap = unsafe name + name_length + 1
        guard unsafe name == place && value >= gap, unsafe gap.bytes(value - gap).allSatisfy(Self.isBlank) else {
            return nil
        }
        var length = unsafe value_length
        while length > 0 {
            guard unsafe Self.isBlank(UInt8(bitPattern: value[length - 1])) else { break }
            length -= 1
        }
        let text = unsafe value.bytes(length)
        guard unsafe RequestRules.isFieldValue(text),
            let name = unsafe HTTPField.Name(String(decoding: name.bytes(name_length), as: UTF8.self))
        else { return nil }
        return unsafe HTTPField(name: name, value: Self.decodedLatin1(text))
    }

    /// Returns the position of the next line.
    ///
    /// Version 1 of the library overwrites the first blank after a value instead of the line end; earlier versions
    /// leave such blanks in the value.
    @unsafe
    fileprivate var lineEnd: UnsafePointer<CChar> {
        var end = unsafe value + value_length + 1
        while unsafe Self.isBlank(UInt8(bitPattern: end[0])) { unsafe end += 1 }
        return unsafe end[0] == CChar(bitPattern: UInt8(ascii: "\r")) ? end + 2 : end + 1
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    @unsafe
    private static func decodedLatin1(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        if unsafe bytes.allSatisfy({ $0 < 0x80 }) { return unsafe String(decoding: bytes, as: UTF8.self) }
        var scalars = String.UnicodeScalarView()
        for index in bytes.indices { unsafe scalars.append(Unicode.Scalar(bytes[index])) }
        return String(scalars)
    }
}

/// A target as the library passed it before splitting the header.
struct ReceivedTarget {
    /// The address in the buffer, used only for comparison.
    let position: UInt
    let length: Int
    /// The target; nil if it is too long or contains invalid characters.
    let text: String?

    let isKnown: Bool

    /// Copies the target unless it is too long or equals `remembered`.
    @unsafe
    init(_ target: UnsafePointer<CChar>, length: Int, maximumLength: Int, remembered: String?) {
        position = UInt(bitPattern: target)
        self.length = length
        if let remembered, unsafe remembered.isSame(as: target.bytes(length)) {
            text = remembered
            isKnown = true
            return
        }
        isKnown = false
        guard length <= maximumLength else {
            text = nil
            return
        }
        let bytes = unsafe target.bytes(length)
        text = unsafe RequestRules.isTarget(bytes) ? String(validating: bytes, as: UTF8.self) : nil
    }
}

extension String {
    @unsafe
    fileprivate func isSame(as bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe utf8Span.span.withUnsafeBufferPointer { unsafe $0.isSame(as: bytes) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    @unsafe
    func isSame(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
        return unsafe memcmp(start, otherStart, count) == 0
    }
}

extension UnsafePointer<CChar> {
    @unsafe
    func bytes(_ count: Int) -> UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(start: UnsafeRawPointer(self).assumingMemoryBound(to: UInt8.self), count: count)
    }
}
