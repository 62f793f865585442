import Coordination

final class ActivityReporter: Sendable {
    private struct State {
        var isWatching = false
        var lastReported = false
    }

    private let state = Locked(State())
    private let report: @Sendable (_ isActive: Bool) -> Void
    private let timekeeper: any Timekeeper
    private let activity: @Sendable (_ now: Duration) -> (isActive: Bool, nextChange: Duration?)

    init(
        _ report: @escaping @Sendable (_ isActive: Bool) -> Void, timekeeper: any Timekeeper,
        activity: @escaping @Sendable (_ now: Duration) -> (isActive: Bool, nextChange: Duration?)
    ) {
        self.report = report
        self.timekeeper = timekeeper
        self.activity = activity
    }

    func watch() {
        let isNew = state.withLock { state in
            guard !state.isWatching, activity(timekeeper.now).nextChange != nil else { return false }
            state.isWatching = true
            return true
        }
        if isNew { Task.detached { await self.work() } }
    }

    private func work() async {
        while true {
            let (change, next) = state.withLock { state -> (Bool?, Duration?) in
                let (isActive, next) = activity(timekeeper.now)
                let hasChanged = isActive != state.lastReported
                state.lastReported = isActive
                if !hasChanged, next == nil { state.isWatching = false }
                return (hasChanged ? isActive : nil, next)
            }
            if let change {
                report(change)
            } else if let next {
                try? await timekeeper.sleep(until: next)
            } else {
                return
            }
        }
    }
}
