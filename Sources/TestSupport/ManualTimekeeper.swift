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
    }

    private let state: Locked<State>

    /// A clock that shows `secondsSince1970` on the wall.
    package init(secondsSince1970: Int = 1_800_000_000) {
        state = Locked(State(secondsSince1970: secondsSince1970))
    }

    /// The monotonic time.
    package var now: Duration { state.withLock { $0.now } }

    /// The wall clock's time.
    package var secondsSince1970: Int { state.withLock { $0.secondsSince1970 } }

    /// How many tasks sleep at this moment.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// When the first of the sleeping tasks wakes; nil while none sleeps.
    package var nextWaking: Duration? { state.withLock { $0.sleepers.values.map(\.deadline).min() } }

    /// Moves both clocks forward and wakes those whose time has come.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            state.secondsSince1970 += Int(duration.components.seconds)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { $0.value.deadline < $1.value.deadline }
        }
        for (_, sleeper) in due { sleeper.continuation.resume() }
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
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                if let sleeper = state.sleepers.removeValue(forKey: id) { return Optional(sleeper) }
                state.cancelled.insert(id)
                return nil
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
