import Coordination

/// A closed door that a test opens: tasks wait at it, and the test can wait until enough of them have arrived.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())
    private let arrivals = EventCounter()

    package init() {}

    /// How many have come to the gate so far.
    package var arrivedCount: Int { arrivals.count }

    /// Waits at the gate until it is open.
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

    /// Waits until `count` have come to the gate.
    package func arrivals(_ count: Int) async { await arrivals.reached(count) }

    /// Opens the gate for waiting and future tasks.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
