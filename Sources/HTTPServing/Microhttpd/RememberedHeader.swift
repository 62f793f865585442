import HTTPTypes

/// The header that a connection repeats, with its answer, so that the next one with the same bytes is not parsed.
///
/// Headers with the same bytes mean the same. Clients that repeat a hot URL are proxies and pipelines, whose
/// connections last and whose headers do not change. A header is remembered when its target is requested the second
/// time in a row: most are never repeated. See docs/decisions/014-the-hot-path.md.
struct RememberedHeader {
    private struct Entry {
        /// Kept apart, because the library changes the target in its buffer.
        let target: String
        let bytes: [UInt8]
        let answer: any RecurringAnswer
    }

    /// Headers are seldom larger; a connection remembers no more than this many bytes.
    private static let maximumSize = 2_048

    private var entry: Entry?
    private var lastTarget: String?

    /// The target of the remembered header; nil if none is remembered.
    var target: String? { entry?.target }

    /// The answer to a header with the remembered target; nil if its other bytes differ, or if it has to be read again.
    func response(to header: ReceivedHeader) -> RecurringResponse? {
        guard let entry, unsafe entry.bytes.withUnsafeBufferPointer({ unsafe $0.isSame(as: header.bytes) }) else {
            return nil
        }
        return entry.answer.response()
    }

    /// Notes that `request` has a recurring answer, and copies its header if its target came twice in a row.
    mutating func note(_ header: ReceivedHeader, of request: HTTPRequest, answeredBy answer: any RecurringAnswer) {
        guard request.target == lastTarget else {
            lastTarget = request.target
            return
        }
        entry =
            header.size <= Self.maximumSize
            ? unsafe Entry(target: request.target, bytes: Array(header.bytes), answer: answer) : nil
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
