import Coordination

/// Counts events, and lets a test wait until enough of them have happened.
package final class EventCounter: Sendable {
    private struct State {
        var count = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    package init() {}

    /// How many events there were so far.
    package var count: Int { state.withLock { $0.count } }

    /// Counts an event; may be called on any thread.
    package func increment() {
        let ready = state.withLock { state in
            state.count += 1
            let ready = state.watchers.filter { $0.count <= state.count }
            state.watchers.removeAll { $0.count <= state.count }
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
    }

    /// Returns when there were at least `count` events.
    package func reached(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }
}
