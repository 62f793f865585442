/// Suspends an origin that keeps failing, then probes it with one transfer at a time.
///
/// A client that requests failing URLs of an origin must not be able to block it for others. So a suspect origin is
/// first tested with URLs that have worked before, if any are known, and their results decide.
///
/// Transfers admitted in an earlier phase do not affect the current one.
struct OriginHealth {
    struct Permit: Hashable, Sendable {
        fileprivate let number: UInt64
        fileprivate let phase: UInt64
        fileprivate let responses: UInt64
    }

    enum Admission: Equatable {
        case granted(Permit)
        case rejected(Duration)
    }

    enum Consequence: Equatable {
        case none
        case suspended
        /// The origin will be suspended unless one of these sources works; see ``conclude(_:results:at:)``.
        case suspected(OriginTest)
    }

    private enum Phase {
        case open
        case suspended(OriginTest.Cause, until: Duration, pause: Duration)
        /// Probing with one transfer; `isBacked` if URLs that have worked before are also requested.
        case probing(OriginTest.Cause, pause: Duration, isBacked: Bool)
    }

    /// The number of consecutive sources without a response after which the origin is suspended.
    private static let maximumSilentSources = 5
    private static let firstPause = Duration.seconds(5)
    private static let longestPause = Duration.seconds(60)
    /// How long all URLs may probe an origin that responded with 5xx and has never worked.
    private static let probeWindow = Duration.seconds(1)

    private var phase = Phase.open
    private var phaseNumber: UInt64 = 0
    private var lastNumber: UInt64 = 0
    private var running: [UInt64: TransferProgress] = [:]
    private var responses: UInt64 = 0
    private var successfulResponses: UInt64 = 0
    private var silentSources: Set<Int> = []
    private var window = FailureWindow()
    private var probeWindowEnd: Duration?
    private var workingSources = WorkingSources()
    private var pendingTest: OriginTest?

    /// Whether the last conclusive transfer got a valid response below 500; nil before the first.
    private(set) var isReachable: Bool?

    var hasWorked: Bool { !workingSources.sources.isEmpty }

    var isUnknown: Bool { isReachable == nil && running.isEmpty && pendingTest == nil && !isSuspended }

    var isSuspended: Bool { suspensionCause != nil }

    var suspensionCause: OriginTest.Cause? {
        switch phase {
        case .open: nil
        case .suspended(let cause, _, _), .probing(let cause, _, _): cause
        }
    }

    func rejection(at now: Duration) -> Duration? {
        switch phase {
        case .open: nil
        case .suspended(_, let end, _): end > now ? end - now : nil
        case .probing: probeWindowEnd.map { now < $0 } == true ? nil : .seconds(1)
        }
    }

    /// Admits or rejects a transfer; the first one after a suspension is the probe.
    mutating func admit(_ progress: TransferProgress, at now: Duration) -> Admission {
        closeProbeWindow(at: now)
        if let rejection = rejection(at: now) { return .rejected(rejection) }
        if case .suspended(let cause, _, let pause) = phase {
            enter(.probing(cause, pause: pause, isBacked: false))
            if cause == .serverErrors, workingSources.sources.isEmpty { probeWindowEnd = now + Self.probeWindow }
        }
        lastNumber += 1
        running[lastNumber] = progress
        return .granted(Permit(number: lastNumber, phase: phaseNumber, responses: responses))
    }

    /// Returns the sources to test first; nil unless this transfer is the probe and such sources exist.
    mutating func test(before permit: Permit, of source: SourceIdentity) -> OriginTest? {
        guard permit.phase == phaseNumber, case .probing(let cause, let pause, _) = phase,
            let test = suspect(cause, excluding: source, isLast: false)
        else { return nil }
        phase = .probing(cause, pause: pause, isBacked: true)
        return test
    }

    mutating func end(
        _ permit: Permit, report: OriginReport, of source: SourceIdentity, at now: Duration
    ) -> Consequence {
        running[permit.number] = nil
        if report == .success { workingSources.add(source) }
        guard permit.phase == phaseNumber else { return .none }
        record(report)
        switch phase {
        case .open: return evaluate(report, permit: permit, source: source, at: now)
        case .suspended: return .none
        case .probing(let cause, let pause, let isBacked):
            if cause.isRefuted(by: report) {
                open(report, at: now)
                return .none
            }
            // Until the probe window closes, another URL may prove that the origin works.
            if probeWindowEnd != nil { return .none }
            if report == .inconclusive {
                enter(.suspended(cause, until: now, pause: pause))
                return .none
            }
            if !isBacked, let test = suspect(cause, excluding: source, isLast: true) {
                phase = .probing(cause, pause: pause, isBacked: true)
                return .suspected(test)
            }
            return suspend(cause, for: min(pause * 2, Self.longestPause), at: now)
        }
    }

    mutating func conclude(_ test: OriginTest, results testResults: [OriginTestResult], at now: Duration) -> Consequence
    {
        guard test == pendingTest, test.phase == phaseNumber else { return .none }
        pendingTest = nil
        workingSources.update(from: testResults, about: test.cause)
        let reports = testResults.map(\.report).filter { $0 != .inconclusive }
        for report in reports { record(report) }
        switch phase {
        case .open:
            for testResult in testResults { window.add(testResult.report, of: testResult.source, at: now) }
            let isContradicted =
                test.cause == .silence ? responses != test.responses : successfulResponses != test.successfulResponses
            return reports.isEmpty || isContradicted ? .none : suspend(test.cause, for: Self.firstPause, at: now)
        case .suspended: return .none
        case .probing(let cause, let pause, _):
            if let report = reports.first(where: { cause.isRefuted(by: $0) }) {
                open(report, at: now)
                return .none
            }
            return test.isLast ? suspend(cause, for: min(pause * 2, Self.longestPause), at: now) : .none
        }
    }

    private mutating func record(_ report: OriginReport) {
        guard report != .inconclusive else { return }
        isReachable = report == .success || report == .response
        guard report != .noResponse else { return }
        responses += 1
        if report != .serverError { successfulResponses += 1 }
        silentSources = []
    }

    /// Decides whether a result in the open phase makes the origin suspect.
    private mutating func evaluate(
        _ report: OriginReport, permit: Permit, source: SourceIdentity, at now: Duration
    ) -> Consequence {
        window.add(report, of: source, at: now)
        guard report.isFailure else { return .none }
        // Ignore the failure if the origin has responded since the transfer began.
        if report == .noResponse, permit.responses == responses, silentSources.count < Self.maximumSilentSources {
            silentSources.insert(source.hashValue)
        }
        let cause: OriginTest.Cause
        if silentSources.count >= Self.maximumSilentSources {
            cause = .silence
        } else if window.hasOnlyFailures(at: now) {
            cause = .serverErrors
        } else {
            return .none
        }
        guard pendingTest == nil, !running.values.contains(where: \.hasResponse) else { return .none }
        return suspect(cause, excluding: source, isLast: true).map { .suspected($0) }
            ?? suspend(cause, for: Self.firstPause, at: now)
    }

    /// Begins a test; nil if no other source is known to have worked.
    private mutating func suspect(
        _ cause: OriginTest.Cause, excluding source: SourceIdentity, isLast: Bool
    ) -> OriginTest? {
        let sources = workingSources.sources.filter { $0 != source }
        guard !sources.isEmpty else { return nil }
        let test = OriginTest(
            sources: sources, cause: cause, phase: phaseNumber, isLast: isLast, responses: responses,
            successfulResponses: successfulResponses)
        pendingTest = test
        return test
    }

    private mutating func open(_ report: OriginReport, at now: Duration) {
        window = FailureWindow()
        // Keep the success in the window, so that the origin is not suspected again before the window has passed.
        if report != .serverError { window.addSuccess(at: now) }
        enter(.open)
    }

    private mutating func suspend(_ cause: OriginTest.Cause, for pause: Duration, at now: Duration) -> Consequence {
        enter(.suspended(cause, until: now + pause, pause: pause))
        return .suspended
    }

    private mutating func closeProbeWindow(at now: Duration) {
        guard let end = probeWindowEnd, now >= end, case .probing(let cause, let pause, _) = phase else { return }
        enter(.suspended(cause, until: end + pause, pause: pause))
    }

    private mutating func enter(_ next: Phase) {
        probeWindowEnd = nil
        phase = next
        phaseNumber += 1
        silentSources = []
    }
}
