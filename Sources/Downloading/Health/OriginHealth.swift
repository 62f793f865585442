/// Whether an origin is worth asking: suspended when it keeps failing, then probed by one transfer at a time.
///
/// An origin that nothing is known of is asked. What ends under a pass of an earlier phase says nothing about this one.
struct OriginHealth {
    /// The right to run one transfer, to be given back with how it ended.
    struct Pass: Hashable, Sendable {
        fileprivate let phase: UInt64
    }

    /// What becomes of a transfer that wants to start.
    enum Admission: Equatable {
        case granted(Pass)
        /// The origin is suspended, for so long at least.
        case refused(Duration)
    }

    /// What a transfer's end says about its origin.
    enum Report {
        case success
        case failure
        /// Nothing: cancelled, or ended by a limit of ours.
        case nothing
    }

    private enum Phase {
        case open
        case suspended(until: Duration, pause: Duration)
        case probing(pause: Duration)
    }

    /// Failures in a row that suspend.
    private static let longestRow = 5
    /// Ends within the window from which on half of them failing suspends.
    private static let leastCount = 20
    private static let firstPause = Duration.seconds(5)
    private static let longestPause = Duration.seconds(60)

    private var phase = Phase.open
    private var phaseNumber: UInt64 = 0
    private var row = 0
    private var window = FailureWindow()

    /// Whether the last transfer that said anything succeeded; nil before the first.
    private(set) var isReachable: Bool?

    /// Whether transfers are being refused.
    var isSuspended: Bool {
        if case .open = phase { false } else { true }
    }

    /// How long transfers will be refused at least; nil when they are not.
    func refusal(at now: Duration) -> Duration? {
        switch phase {
        case .open: nil
        case .suspended(let end, _): end > now ? end - now : nil
        case .probing: .seconds(1)
        }
    }

    /// Lets a transfer start, or not; the first one after a suspension's end is the probe.
    mutating func admit(at now: Duration) -> Admission {
        if let refusal = refusal(at: now) { return .refused(refusal) }
        if case .suspended(_, let pause) = phase { enter(.probing(pause: pause)) }
        return .granted(Pass(phase: phaseNumber))
    }

    /// Takes in how a transfer ended; true when this suspends the origin.
    mutating func end(_ pass: Pass, _ report: Report, at now: Duration) -> Bool {
        guard pass.phase == phaseNumber else { return false }
        switch phase {
        case .open: return note(report, at: now)
        case .suspended: return false
        case .probing(let pause):
            switch report {
            case .success:
                isReachable = true
                row = 0
                window = FailureWindow()
                enter(.open)
                return false
            case .failure:
                let longer = min(pause * 2, Self.longestPause)
                enter(.suspended(until: now + longer, pause: longer))
                return true
            case .nothing:
                enter(.suspended(until: now, pause: pause))
                return false
            }
        }
    }

    private mutating func note(_ report: Report, at now: Duration) -> Bool {
        switch report {
        case .nothing: return false
        case .success:
            isReachable = true
            row = 0
        case .failure:
            isReachable = false
            row += 1
        }
        window.add(isFailure: report == .failure, at: now)
        let (total, failures) = window.counts(at: now)
        guard report == .failure, row >= Self.longestRow || total >= Self.leastCount && 2 * failures >= total else {
            return false
        }
        enter(.suspended(until: now + Self.firstPause, pause: Self.firstPause))
        return true
    }

    private mutating func enter(_ next: Phase) {
        phase = next
        phaseNumber += 1
    }
}
