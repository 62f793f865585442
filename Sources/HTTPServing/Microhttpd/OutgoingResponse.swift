import CMicrohttpdShim
import HTTPTypes
import Memory

@safe
struct OutgoingResponse: ~Copyable {
    private let raw: OpaquePointer
    private let status: UInt32
    let invalidFieldCount: Int

    /// Returns nil if out of memory.
    ///
    /// - Parameter connection: The connection; nil for a response that several share, which must not be streamed.
    init?(_ response: HTTPResponse, isLast: Bool, on connection: ClientConnection? = nil) {
        guard let raw = unsafe Self.make(response.body, for: connection) else { return nil }
        unsafe self.raw = raw
        status = UInt32(response.status.code)
        var rejected = isLast ? unsafe Self.add("Connection", "close", to: raw) : 0
        response.headerFields.forEach { field in
            guard !Self.isWrittenByServer(field), !field.value.isEmpty else { return }
            rejected += unsafe Self.add(field.name.rawName, field.value, to: raw)
        }
        invalidFieldCount = rejected
    }

    deinit { unsafe CMicrohttpdShim_discard(raw) }

    /// Call on the connection's event thread; returns false if it is too late.
    func queue(on connection: OpaquePointer) -> Bool { unsafe CMicrohttpdShim_queue(connection, status, raw) }

    /// Adds a field; returns 1 if it is invalid, otherwise 0.
    ///
    /// Field values are bytes: each scalar up to U+00FF is one byte on the wire, as in ``HTTPField/value``.
    @unsafe
    private static func add(_ name: String, _ value: String, to raw: OpaquePointer) -> Int {
        let isAdded = unsafe name.utf8Span.span.withUnsafeBufferPointer { name in
            unsafe value.utf8Span.span.withUnsafeBufferPointer { value in
                unsafe CMicrohttpdShim_add_field(raw, name.baseAddress, name.count, value.baseAddress, value.count)
            }
        }
        return isAdded ? 0 : 1
    }

    /// Whether the library writes the field: `Content-Length`, `Connection`, `Transfer-Encoding`, or a missing `Date`.
    private static func isWrittenByServer(_ field: HTTPField) -> Bool {
        switch field.name.rawName.utf8.count {
        case 4: field.name == .date && HTTPDate(field.value) == nil
        case 10: field.name == .connection
        case 14: field.name == .contentLength
        case 17: field.name == .transferEncoding
        default: false
        }
    }

    private static func make(_ body: HTTPResponse.Body, for connection: ClientConnection?) -> OpaquePointer? {
        switch body {
        case .empty:
            return unsafe CMicrohttpdShim_response_copying(nil, 0)
        case .text(var text):
            return text.withUTF8 { unsafe CMicrohttpdShim_response_copying($0.baseAddress, $0.count) }
        case .streamed(let body):
            guard let connection else { return nil }
            return unsafe StreamSender(body, on: connection).makeResponse()
        case .shared(let bytes):
            // Balanced in `release`, which the library calls once, when the last byte is sent or the connection is
            // gone.
            let owner = unsafe Unmanaged.passRetained(bytes)
            let raw = unsafe bytes.withUnsafeBytes {
                unsafe CMicrohttpdShim_response_lending($0.baseAddress, $0.count, release, owner.toOpaque())
            }
            if unsafe raw == nil { unsafe owner.release() }
            return unsafe raw
        }
    }
}

private func release(_ owner: UnsafeMutableRawPointer?) {
    guard let owner = unsafe owner else { return }
    unsafe Unmanaged<SharedBytes>.fromOpaque(owner).release()
}

/// Writes a response that the library cannot send because it has no request.
enum RejectionText {
    /// Returns the bytes of the response, after which the connection closes.
    static func bytes(of response: HTTPResponse, at secondsSince1970: Int) -> [UInt8] {
        var header = "HTTP/1.1 \(response.status.code) \(response.status.reasonPhrase ?? "Refused")\r\n"
        header += "Date: \(HTTPDate(secondsSince1970: secondsSince1970).imfFixdate)\r\nConnection: close\r\n"
        for field in response.headerFields where !isFraming(field.name) && RequestRules.isFieldValue(field.value.utf8) {
            header += "\(field.name.rawName): \(field.value)\r\n"
        }
        header += "Content-Length: \(response.body.count)\r\n\r\n"
        switch response.body {
        case .empty, .streamed: return Array(header.utf8)
        case .text(let text): return Array((header + text).utf8)
        case .shared(let bytes): return Array(header.utf8) + bytes.array
        }
    }

    private static func isFraming(_ name: HTTPField.Name) -> Bool {
        [.date, .connection, .contentLength, .transferEncoding].contains(name)
    }
}
