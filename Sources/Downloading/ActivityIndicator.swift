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
