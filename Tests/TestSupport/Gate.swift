import Coordination

/// A closed gate for tasks; a test can wait for arrivals and opens it.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())
    private let arrivals = EventCounter()

    package init() {}

    /// Number of tasks that have arrived so far.
    package var arrivedCount: Int { arrivals.count }

    package func pass() async {
        await withCheckedContinuation { continuation in
            arrivals.increment()
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Waits until `count` tasks have arrived.
    package func arrivals(_ count: Int) async { await arrivals.reached(count) }

    /// Opens the gate for good.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
