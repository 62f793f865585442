import SharedCaching

/// The outcome of an insufficient lookup in the shared cache: the task that continues does not repeat its queries.
package struct EarlierLook: Sendable {
    /// The reply to the query for a result.
    enum Answer: Sendable {
        /// A reply too large to be read on an event thread.
        case reply(SharedReply)
        case read(LayerReply)
    }

    /// The time that the request has waited for the shared layers.
    var allowances = LayerAllowances()
    /// Whether the record of the source was queried.
    var hasAskedForRecord = false
    var answer: (key: ResultKey, Answer)?

    package init() {}

    func reply(for key: ResultKey, in layer: any CacheLayer) -> LayerReply? {
        guard let cache = layer as? SharedLayer, cache.name == .shared, let (asked, answer) = answer, asked == key
        else { return nil }
        switch answer {
        case .read(let reply): return reply
        case .reply(let reply): return cache.read(reply, for: .result(key))
        }
    }
}
