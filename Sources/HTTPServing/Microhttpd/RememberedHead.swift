import HTTPTypes

/// The head of a request that had a recurring answer, so that the next one on its connection is not taken apart if it is the same.
///
/// Byte for byte the same, a head means the same. Clients that ask for a hot URL again and again are proxies and pipelines, whose
/// connections last and whose heads do not change.
struct RememberedHead {
    /// The target, which the library does not leave as it was.
    let target: String
    /// What answers.
    let answer: any RecurringAnswer
    private let bytes: [UInt8]

    /// Heads are seldom larger; a connection remembers no more than this many bytes.
    private static let maximumSize = 2_048

    /// Copies a head without a body; nil when it is too large to be remembered.
    init?(_ head: ReceivedHead, target: String, answer: any RecurringAnswer) {
        guard head.size <= Self.maximumSize else { return nil }
        self.target = target
        self.answer = answer
        bytes = unsafe Array(head.bytes)
    }

    /// Whether a head whose target is the same is the same in all else.
    func isSame(as head: ReceivedHead) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { unsafe $0.isSame(as: head.bytes) }
    }
}
