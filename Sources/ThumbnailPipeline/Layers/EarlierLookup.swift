/// Queries already made on the event thread, which the continuing task does not repeat.
package struct EarlierLookup: Sendable {
    struct Result: Sendable {
        let layer: LayerName
        let key: ResultKey
        let read: @Sendable () -> LayerReply
    }

    var waits = LayerWaitBudgets()
    /// The layer that was queried for the record of the source.
    var recordLayer: LayerName?
    var result: Result?

    package init() {}

    func reply(of layer: LayerName, for key: ResultKey) -> LayerReply? {
        result.flatMap { $0.layer == layer && $0.key == key ? $0.read() : nil }
    }
}
