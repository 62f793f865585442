import HTTPTypes

/// The header of a request with a recurring answer, so that the next one with the same bytes is not parsed.
///
/// Headers with the same bytes have the same meaning. Clients that repeat a hot URL are proxies and pipelines, whose
/// connections last and whose headers do not change. See docs/decisions/014-the-hot-path.md.
///
/// A class, because its connection reads it for each request: one reference costs less than a copy of its parts.
final class RememberedHeader {
    /// The maximum number of bytes remembered per connection; few headers are larger.
    private static let maximumSize = 2_048

    /// The target, because the library overwrites it in its buffer.
    let target: String
    private let bytes: [UInt8]
    private let answer: any RecurringResponder

    /// Copies a header without a body; nil if it is too large.
    init?(_ header: ReceivedHeader, target: String, answer: any RecurringResponder) {
        guard header.size <= Self.maximumSize else { return nil }
        self.target = target
        self.answer = answer
        bytes = unsafe Array(header.bytes)
    }

    /// Returns the response to a header with the same target; nil if its other bytes differ, or if it must be parsed
    /// again.
    func response(to header: ReceivedHeader) -> RecurringResponse? {
        guard unsafe bytes.withUnsafeBufferPointer({ unsafe $0.isSame(as: header.bytes) }) else { return nil }
        return answer.response()
    }
}

struct HeaderMemory {
    private(set) var header: RememberedHeader?
    private var lastTarget: String?

    /// Remembers a header when its target is requested for the second time in a row; most are never repeated.
    mutating func remember(_ header: ReceivedHeader, of request: HTTPRequest, answeredBy answer: any RecurringResponder)
    {
        guard request.target == lastTarget else {
            lastTarget = request.target
            return
        }
        self.header = RememberedHeader(header, target: request.target, answer: answer)
    }
}

/// A recurring response in the library's form, which counts its uses under its own lock.
@safe
final class SharedOutgoingResponse: @unchecked Sendable {
    private let outgoing: OutgoingResponse

    /// The number of invalid fields left out.
    var refusedFieldCount: Int { outgoing.refusedFieldCount }

    /// Creates a response that leaves its connection open; nil if out of memory.
    init?(_ response: HTTPResponse) {
        guard let outgoing = OutgoingResponse(response, isLast: false) else { return nil }
        self.outgoing = outgoing
    }

    /// Queues the response for the current request of a connection, on its event thread; returns false if it is too
    /// late.
    func queue(on connection: OpaquePointer) -> Bool {
        unsafe outgoing.queue(on: connection)
    }
}
