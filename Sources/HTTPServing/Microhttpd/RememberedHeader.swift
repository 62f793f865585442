import HTTPTypes

/// The header of a request that had a recurring answer, so that the next one with the same bytes is not parsed.
///
/// Headers with the same bytes mean the same. Clients that repeat a hot URL are proxies and pipelines, whose
/// connections last and whose headers do not change. See docs/decisions/014-the-hot-path.md.
///
/// A class, because its connection reads it for each request: one reference costs less than a copy of its parts.
final class RememberedHeader {
    /// Headers are seldom larger; a connection remembers no more than this many bytes.
    private static let maximumSize = 2_048

    /// The target, because the library changes it in its buffer.
    let target: String
    private let bytes: [UInt8]
    private let answer: any RecurringAnswer

    /// Copies a header without a body; nil if it is too large to be remembered.
    init?(_ header: ReceivedHeader, target: String, answer: any RecurringAnswer) {
        guard header.size <= Self.maximumSize else { return nil }
        self.target = target
        self.answer = answer
        bytes = unsafe Array(header.bytes)
    }

    /// The answer to a header with the same target; nil if its other bytes differ, or if it has to be read again.
    func response(to header: ReceivedHeader) -> RecurringResponse? {
        guard unsafe bytes.withUnsafeBufferPointer({ unsafe $0.isSame(as: header.bytes) }) else { return nil }
        return answer.response()
    }
}

/// The header that a connection remembers.
struct HeaderMemory {
    private(set) var header: RememberedHeader?
    private var lastTarget: String?

    /// Remembers a header when its target is requested the second time in a row: most are never repeated.
    mutating func note(_ header: ReceivedHeader, of request: HTTPRequest, answeredBy answer: any RecurringAnswer) {
        guard request.target == lastTarget else {
            lastTarget = request.target
            return
        }
        self.header = RememberedHeader(header, target: request.target, answer: answer)
    }
}

/// A recurring response in the library's form, which counts its uses under a lock of its own.
@safe
final class SharedOutgoingResponse: @unchecked Sendable {
    private let outgoing: OutgoingResponse

    /// Fields that may not go on the wire and were left out.
    var refusedFieldCount: Int { outgoing.refusedFieldCount }

    /// Takes over a response that leaves its connection open; nil without memory.
    init?(_ response: HTTPResponse) {
        guard let outgoing = OutgoingResponse(response, isLast: false) else { return nil }
        self.outgoing = outgoing
    }

    /// Queues the response for the current request of a connection, on its event thread; false if it is too late.
    func queue(on connection: OpaquePointer) -> Bool {
        unsafe outgoing.queue(on: connection)
    }
}
