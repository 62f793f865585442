/// Counts events; a test can wait for a number of them.
package final class EventCounter: Sendable {
    private let state = Watched(0)

    package init() {}

    package var count: Int { state.withLock { $0 } }

    /// May be called on any thread.
    package func increment() { state.withLock { $0 += 1 } }

    package func reached(_ count: Int) async { await state.reached { $0 >= count } }
}
