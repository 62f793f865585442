/// Counts events, and lets a test wait until enough of them have happened.
package final class EventCounter: Sendable {
    private let state = Watched(0)

    package init() {}

    package var count: Int { state.withLock { $0 } }

    /// Counts an event; may be called on any thread.
    package func increment() { state.withLock { $0 += 1 } }

    package func reached(_ count: Int) async { await state.reached { $0 >= count } }
}
