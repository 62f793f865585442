import HTTPTypes

/// The header of a request with a recurring response; a next one with the same bytes is not parsed.
///
/// Clients that repeat a URL are proxies and pipelining clients, whose connections last and whose headers do not
/// change. See docs/decisions/014-the-hot-path.md.
///
/// A class, because its connection reads it for each request, and one reference is cheaper than a copy of its parts.
final class RememberedHeader {
    /// The maximum size in bytes; few headers are larger.
    private static let maximumSize = 2_048

    /// The target, which the library overwrites in its buffer.
    let target: String
    private let bytes: [UInt8]
    private let responder: any RecurringResponder

    /// Returns nil if the header is too large; the request must have no body.
    init?(_ header: ReceivedHeader, target: String, responder: any RecurringResponder) {
        guard header.size <= Self.maximumSize else { return nil }
        self.target = target
        self.responder = responder
        bytes = unsafe Array(header.bytes)
    }

    /// Returns nil if bytes outside the target differ, or if the header must be parsed again.
    func response(to header: ReceivedHeader) -> RecurringResponse? {
        guard unsafe bytes.withUnsafeBufferPointer({ unsafe $0.isSame(as: header.bytes) }) else { return nil }
        return responder.response()
    }
}

struct HeaderMemory {
    private(set) var header: RememberedHeader?
    private var lastTarget: String?

    /// Remembers a target that is requested twice in a row, because most targets are never repeated.
    mutating func remember(_ header: ReceivedHeader, of request: HTTPRequest, by responder: any RecurringResponder) {
        guard request.target == lastTarget else {
            lastTarget = request.target
            return
        }
        self.header = RememberedHeader(header, target: request.target, responder: responder)
    }
}

/// A response in the library's form, which the library counts by reference under its own lock.
@safe
final class SharedOutgoingResponse: @unchecked Sendable {
    private let outgoing: OutgoingResponse

    var invalidFieldCount: Int { outgoing.invalidFieldCount }

    init?(_ response: HTTPResponse) {
        guard let outgoing = OutgoingResponse(response, isLast: false) else { return nil }
        self.outgoing = outgoing
    }

    /// Call on the connection's event thread; returns false if it is too late.
    func queue(on connection: OpaquePointer) -> Bool { unsafe outgoing.queue(on: connection) }
}
