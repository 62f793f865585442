import CMicrohttpdShim
import HTTPTypes
import Memory

/// A response in the library's form, until it is queued.
@safe
struct OutgoingResponse: ~Copyable {
    private let raw: OpaquePointer
    private let status: UInt32
    /// Fields that may not go on the wire and were left out.
    let refusedFieldCount: Int

    /// Takes over a response, nil without memory; with `isLast` the connection closes after it.
    init?(_ response: HTTPResponse, isLast: Bool) {
        guard let raw = unsafe Self.make(response.body) else { return nil }
        unsafe self.raw = raw
        status = UInt32(response.status.code)
        var refused = isLast ? unsafe Self.add("Connection", "close", to: raw) : 0
        response.headerFields.forEach { field in
            guard !Self.isServers(field), !field.value.isEmpty else { return }
            refused += unsafe Self.add(field.name.rawName, field.value, to: raw)
        }
        refusedFieldCount = refused
    }

    deinit {
        unsafe CMicrohttpdShim_discard(raw)
    }

    /// Queues the response for the request in hand, on its event thread; false when it was too late.
    func queue(on connection: OpaquePointer) -> Bool {
        unsafe CMicrohttpdShim_queue(connection, status, raw)
    }

    /// Adds a field; 1 when it may not go on the wire, else 0.
    ///
    /// Field values are bytes there: each scalar up to U+00FF is one, as in ``HTTPField/value``.
    @unsafe
    private static func add(_ name: String, _ value: String, to raw: OpaquePointer) -> Int {
        let isAdded = unsafe name.utf8Span.span.withUnsafeBufferPointer { name in
            unsafe value.utf8Span.span.withUnsafeBufferPointer { value in
                unsafe CMicrohttpdShim_add_field(raw, name.baseAddress, name.count, value.baseAddress, value.count)
            }
        }
        return isAdded ? 0 : 1
    }

    /// `Content-Length`, `Connection` and `Transfer-Encoding` are written by the library, and `Date` if there is none
    /// yet.
    private static func isServers(_ field: HTTPField) -> Bool {
        switch field.name.rawName.utf8.count {
        case 4: field.name == .date && HTTPDate(field.value) == nil
        case 10: field.name == .connection
        case 14: field.name == .contentLength
        case 17: field.name == .transferEncoding
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

/// Releases a body.
private func release(_ owner: UnsafeMutableRawPointer?) {
    guard let owner = unsafe owner else { return }
    unsafe Unmanaged<SharedBytes>.fromOpaque(owner).release()
}
