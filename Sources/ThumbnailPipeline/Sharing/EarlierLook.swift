import Coordination
import SharedCaching

/// The outcome of an insufficient lookup in the shared cache: the task that continues does not repeat its queries.
package struct EarlierLook: Sendable {
    /// The reply to the query for a result.
    enum Answer: Sendable {
        /// A reply too large to be read on an event thread.
        case reply(SharedReply)
        case found(SharedTier.Found<RenderedImage>)
    }

    /// The time that the request has waited for the shared layers.
    var allowances = LayerAllowances()
    /// Whether the record of the source was queried.
    var hasAskedForRecord = false
    var answer: (key: ResultKey, Answer)?

    package init() {}

    func result(for key: ResultKey, by tier: SharedTier) -> SharedTier.Found<RenderedImage>? {
        guard tier.layer == .cache, let (asked, answer) = answer, asked == key else { return nil }
        switch answer {
        case .found(let found): return found
        case .reply(let reply): return tier.result(in: reply, for: key)
        }
    }
}
