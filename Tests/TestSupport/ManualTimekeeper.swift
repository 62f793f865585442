import Coordination

/// A clock that stands still until a test advances it.
package final class ManualTimekeeper: Timekeeper {
    private struct Sleeper: Sendable {
        let deadline: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now = Duration.zero
        var secondsSince1970: Int
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
    }

    private let state: Watched<State>

    package init(secondsSince1970: Int = 1_800_000_000) {
        state = Watched(State(secondsSince1970: secondsSince1970))
    }

    /// Advances time by `step` every two milliseconds until a task has ended; returns its result.
    ///
    /// For time limits that a thread of the tested code watches: the limit cannot expire first, even on a slow machine.
    package func pass<Value>(by step: Duration, until task: Task<Value, any Error>) async -> Result<Value, any Error> {
        let passing = Task {
            let system = SystemTimekeeper()
            while (try? await system.sleep(until: system.now + .milliseconds(2))) != nil { advance(by: step) }
        }
        defer { passing.cancel() }
        return await task.result
    }

    package var now: Duration { state.withLock { $0.now } }

    package var secondsSince1970: Int { state.withLock { $0.secondsSince1970 } }

    /// Number of sleeping tasks.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Waits until at least `count` tasks sleep.
    package func sleepers(_ count: Int) async { await state.reached { $0.sleepers.count >= count } }

    /// Waits until no task sleeps.
    package func noSleepers() async { await state.reached { $0.sleepers.isEmpty } }

    /// Waits until a task sleeps until `deadline` and no task sleeps until an earlier time.
    package func nextWaking(at deadline: Duration) async {
        await state.reached { $0.sleepers.values.map(\.deadline).min() == deadline }
    }

    /// Advances both clocks and wakes the tasks whose deadline has passed.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            state.secondsSince1970 += Int(duration.components.seconds)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Sets the wall clock, also backward; the monotonic clock is unchanged.
    package func setWallClock(secondsSince1970: Int) {
        state.withLock { $0.secondsSince1970 = secondsSince1970 }
    }

    package func sleep(until deadline: Duration) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
