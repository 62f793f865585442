import Coordination
import SharedCaching

/// The outcome of a look into the shared cache that was not enough: the task that goes on does not ask for the same
/// again.
package struct EarlierLook: Sendable {
    /// The answer to the question for a result.
    enum Answer: Sendable {
        /// So many bytes that an event thread did not read them.
        case reply(SharedReply)
        case found(SharedTier.Found<RenderedImage>)
    }

    /// The time that the request has waited for what instances share.
    var allowances = LayerAllowances()
    /// Whether the record of the source was asked for.
    var hasAskedForRecord = false
    /// The result that was asked for, and the answer.
    var answer: (key: ResultKey, Answer)?

    /// A look that has asked nothing.
    package init() {}

    /// The answer for a key; nil if this result was not asked for.
    func result(for key: ResultKey, by tier: SharedTier) -> SharedTier.Found<RenderedImage>? {
        guard tier.layer == .cache, let (asked, answer) = answer, asked == key else { return nil }
        switch answer {
        case .found(let found): return found
        case .reply(let reply): return tier.result(in: reply, for: key)
        }
    }
}
