import Coordination

/// A hand-cranked clock: time stands still until a test advances it.
package final class ManualTimekeeper: Timekeeper {
    private struct Sleeper {
        let deadline: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Duration.zero
        var secondsSince1970: Int
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var watchers: [Watcher] = []

        /// Takes out the watchers whose condition holds.
        mutating func takeReady() -> [Watcher] {
            let deadlines = sleepers.values.map(\.deadline)
            let ready = watchers.filter { $0.isReady(deadlines) }
            watchers.removeAll { $0.isReady(deadlines) }
            return ready
        }
    }

    /// A test that waits for tasks to sleep.
    private struct Watcher {
        let isReady: ([Duration]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private let state: Locked<State>

    /// A clock that shows `secondsSince1970` on the wall.
    package init(secondsSince1970: Int = 1_800_000_000) {
        state = Locked(State(secondsSince1970: secondsSince1970))
    }

    /// Lets time pass until a task has ended, by `step` every two milliseconds; returns what came of it.
    ///
    /// For time limits that a thread of the code under test watches: until then, none of them can pass, however slow
    /// the machine is.
    package func pass<Value>(by step: Duration, until task: Task<Value, any Error>) async -> Result<Value, any Error> {
        let passing = Task {
            let system = SystemTimekeeper()
            while (try? await system.sleep(until: system.now + .milliseconds(2))) != nil { advance(by: step) }
        }
        defer { passing.cancel() }
        return await task.result
    }

    package var now: Duration { state.withLock { $0.now } }

    /// The wall clock's time.
    package var secondsSince1970: Int { state.withLock { $0.secondsSince1970 } }

    /// How many tasks sleep at this moment.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Returns when at least `count` tasks sleep.
    package func sleepers(_ count: Int) async { await sleepers { $0.count >= count } }

    /// Returns when a task sleeps until `deadline`, and none until an earlier time.
    package func nextWaking(at deadline: Duration) async { await sleepers { $0.min() == deadline } }

    /// Returns when the deadlines of the sleeping tasks are as `isReady` wants them.
    private func sleepers(_ isReady: @escaping ([Duration]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                state.watchers.append(Watcher(isReady: isReady, continuation: continuation))
                return state.takeReady()
            }
            for watcher in ready { watcher.continuation.resume() }
        }
    }

    /// Moves both clocks forward and wakes those whose time has come.
    package func advance(by duration: Duration) {
        let (due, ready) = state.withLock { state in
            state.now += duration
            state.secondsSince1970 += Int(duration.components.seconds)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return (due.sorted { $0.value.deadline < $1.value.deadline }, state.takeReady())
        }
        for (_, sleeper) in due { sleeper.continuation.resume() }
        for watcher in ready { watcher.continuation.resume() }
    }

    /// Sets the wall clock, back as well; the monotonic one goes on.
    package func setWallClock(secondsSince1970: Int) {
        state.withLock { $0.secondsSince1970 = secondsSince1970 }
    }

    /// Sleeps until a test has advanced the time to `deadline`.
    package func sleep(until deadline: Duration) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let (result, ready) = state.withLock { state -> (Result<Void, any Error>?, [Watcher]) in
                    if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
                    if deadline <= state.now { return (.success(()), []) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return (nil, state.takeReady())
                }
                if let result { continuation.resume(with: result) }
                for watcher in ready { watcher.continuation.resume() }
            }
        } onCancel: {
            let (sleeper, ready) = state.withLock { state -> (Sleeper?, [Watcher]) in
                guard let sleeper = state.sleepers.removeValue(forKey: id) else {
                    state.cancelled.insert(id)
                    return (nil, [])
                }
                return (sleeper, state.takeReady())
            }
            sleeper?.continuation.resume(throwing: CancellationError())
            for watcher in ready { watcher.continuation.resume() }
        }
    }
}
