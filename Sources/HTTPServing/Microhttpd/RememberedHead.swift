import HTTPTypes

/// The header of a request that had a recurring answer, so that an equal one on its connection is not parsed again.
///
/// Headers with the same bytes mean the same. Clients that repeat a hot URL are proxies and pipelines, whose
/// connections last and whose headers do not change. See docs/decisions/014-the-hot-path.md.
struct RememberedHead {
    /// The target, because the library changes it in its buffer.
    let target: String
    /// The answer to equal requests.
    let answer: any RecurringAnswer
    private let bytes: [UInt8]

    /// Headers are seldom larger; a connection remembers no more than this many bytes.
    private static let maximumSize = 2_048

    /// Copies a header without a body; nil when it is too large to be remembered.
    init?(_ head: ReceivedHead, target: String, answer: any RecurringAnswer) {
        guard head.size <= Self.maximumSize else { return nil }
        self.target = target
        self.answer = answer
        bytes = unsafe Array(head.bytes)
    }

    /// Whether a header with the same target is the same in all other bytes.
    func isSame(as head: ReceivedHead) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { unsafe $0.isSame(as: head.bytes) }
    }
}
