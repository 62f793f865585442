import Coordination

/// A value guarded by a lock; a test can wait for a condition on it.
package final class Watched<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var watchers: [(isMet: @Sendable (Value) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
            let ready = watchers.filter { $0.isMet(value) }
            watchers.removeAll { $0.isMet(value) }
            return ready.map(\.continuation)
        }
    }

    private let state: Locked<State>

    package init(_ value: Value) { state = Locked(State(value: value)) }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        let (result, ready) = try state.withLock { state in (try body(&state.value), state.takeReady()) }
        for watcher in ready { watcher.resume() }
        return result
    }

    package func reached(_ condition: @escaping @Sendable (Value) -> Bool) async {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                state.watchers.append((condition, continuation))
                return state.takeReady()
            }
            for watcher in ready { watcher.resume() }
        }
    }
}
