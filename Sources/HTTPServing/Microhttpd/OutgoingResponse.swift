import CMicrohttpdShim
import HTTPTypes
import Memory

/// A response in the library's form, until it is queued.
@safe
struct OutgoingResponse: ~Copyable {
    private let raw: OpaquePointer
    private let status: UInt32
    /// Fields that may not go on the wire and were left out.
    private(set) var refusedFieldCount = 0

    /// Takes over a response, nil without memory; with `isLast` the connection closes after it.
    init?(_ response: HTTPResponse, isLast: Bool) {
        guard let raw = unsafe Self.make(response.body) else { return nil }
        unsafe self.raw = raw
        status = UInt32(response.status.code)
        if isLast { add("Connection", "close") }
        for field in response.headerFields where !Self.isServers(field.name) && !field.value.isEmpty {
            add(field.name.rawName, field.value)
        }
    }

    deinit {
        unsafe CMicrohttpdShim_discard(raw)
    }

    /// Queues the response for the request in hand, on its event thread; false when it was too late.
    func queue(on connection: OpaquePointer) -> Bool {
        unsafe CMicrohttpdShim_queue(connection, status, raw)
    }

    private mutating func add(_ name: String, _ value: String) {
        let outcome = unsafe value.withCString { text in
            unsafe CMicrohttpdShim_add_field(raw, name, text, value.utf8.count)
        }
        switch outcome {
        case .added: break
        case .refused: refusedFieldCount += 1
        case .not_ascii: addLatin(name, value)
        @unknown default: break
        }
    }

    /// Field values are bytes on the wire: each scalar up to U+00FF is one, as in ``HTTPField/value``.
    private mutating func addLatin(_ name: String, _ value: String) {
        let bytes = value.unicodeScalars.map { scalar in
            scalar.value <= 0xff ? CChar(bitPattern: UInt8(scalar.value)) : CChar(bitPattern: UInt8(ascii: "?"))
        }
        let isAdded = unsafe (bytes + [0]).withUnsafeBufferPointer { text in
            unsafe CMicrohttpdShim_add_field(raw, name, text.baseAddress, 0) == .added
        }
        if !isAdded { refusedFieldCount += 1 }
    }

    /// `Content-Length`, `Date`, `Connection` and `Transfer-Encoding` are written by the library.
    private static func isServers(_ name: HTTPField.Name) -> Bool {
        switch name.canonicalName.utf8.count {
        case 4: name == .date
        case 10: name == .connection
        case 14: name == .contentLength
        case 17: name == .transferEncoding
        default: false
        }
    }

    private static func make(_ body: HTTPResponse.Body) -> OpaquePointer? {
        switch body {
        case .empty:
            return unsafe CMicrohttpdShim_response_copying(nil, 0)
        case .text(var text):
            return text.withUTF8 { unsafe CMicrohttpdShim_response_copying($0.baseAddress, $0.count) }
        case .shared(let bytes):
            // Balanced in `release`, which the library calls once, when the last byte is sent or the connection is gone.
            let owner = unsafe Unmanaged.passRetained(bytes)
            let raw = unsafe bytes.withUnsafeBytes {
                unsafe CMicrohttpdShim_response_lending($0.baseAddress, $0.count, release, owner.toOpaque())
            }
            if unsafe raw == nil { unsafe owner.release() }
            return unsafe raw
        }
    }
}

/// Ends the loan of a body.
private func release(_ owner: UnsafeMutableRawPointer?) {
    guard let owner = unsafe owner else { return }
    unsafe Unmanaged<SharedBytes>.fromOpaque(owner).release()
}
