import Coordination

/// Shows download activity after a second of work, and hides it with a delay so that it does not flicker.
struct ActivityIndicator {
    private static let activationDelay = Duration.seconds(1)
    private static let completionDelay = Duration.milliseconds(170)

    private enum Phase {
        case hidden
        case delayingStart(since: Duration)
        case visible
        case delayingEnd(since: Duration)
    }

    private var phase = Phase.hidden

    func isVisible(at now: Duration) -> Bool {
        switch Self.phase(phase, at: now) {
        case .visible, .delayingEnd: true
        case .hidden, .delayingStart: false
        }
    }

    /// The time of the next change, which may have passed; nil if none is pending.
    var nextChange: Duration? {
        switch phase {
        case .delayingStart(let start): start + Self.activationDelay
        case .delayingEnd(let end): end + Self.completionDelay
        case .hidden, .visible: nil
        }
    }

    mutating func update(isWorking: Bool, at now: Duration) {
        phase = Self.phase(phase, at: now)
        switch (phase, isWorking) {
        case (.hidden, true): phase = .delayingStart(since: now)
        case (.delayingStart, false): phase = .hidden
        case (.visible, false): phase = .delayingEnd(since: now)
        case (.delayingEnd, true): phase = .visible
        default: break
        }
    }

    private static func phase(_ phase: Phase, at now: Duration) -> Phase {
        switch phase {
        case .delayingStart(let start) where now - start >= activationDelay: .visible
        case .delayingEnd(let end) where now - end >= completionDelay: .hidden
        default: phase
        }
    }
}

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
