import Coordination

/// A closed door that a test opens: tasks wait at it, and the test can wait until enough of them have arrived.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrived = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// A closed gate.
    package init() {}

    /// How many have come to the gate so far.
    package var arrivedCount: Int { state.withLock { $0.arrived } }

    /// Waits at the gate until it is open.
    package func pass() async {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                state.arrived += 1
                var ready = state.watchers.filter { $0.count <= state.arrived }.map(\.continuation)
                state.watchers.removeAll { $0.count <= state.arrived }
                if state.isOpen { ready.append(continuation) } else { state.waiting.append(continuation) }
                return ready
            }
            for continuation in ready { continuation.resume() }
        }
    }

    /// Waits until `count` have come to the gate.
    package func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.arrived >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }

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
