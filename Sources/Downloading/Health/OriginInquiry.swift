/// A test with sources of an origin that have worked: whether the origin fails, and not only the requested URLs.
struct OriginInquiry: Equatable, Sendable {
    /// The reason to suspect the origin.
    enum Cause: Sendable {
        /// There was no answer: no connection, or silence.
        case silence
        /// Every answer was a 5xx.
        case serverErrors

        /// Whether one such end shows that the origin works; from an origin that was silent, a 5xx is a sign of life.
        func isRefuted(by report: OriginReport) -> Bool {
            switch report {
            case .success, .answer, .broken: true
            case .serverError: self == .silence
            case .noAnswer, .nothing: false
            }
        }
    }

    /// The sources to request, one after another until one works.
    let sources: [SourceIdentity]
    /// The suspicion that they test.
    let cause: Cause
    /// The phase that the inquiry belongs to.
    let phase: UInt64
    /// Whether it decides; else the probe's own end does, if no source works.
    let isLast: Bool
    /// The answers of any kind before it began.
    let answers: UInt64
    /// The answers below 500 before it began.
    let goodAnswers: UInt64
}

/// A few sources of one origin that have worked: the first ones, for as long as they do.
///
/// Later ones do not replace them, because otherwise the most active client would choose them.
struct KnownSources {
    private static let capacity = 3

    /// In the order in which they are asked.
    private(set) var sources: [SourceIdentity] = []

    /// Remembers a source that has worked, if there is room.
    mutating func add(_ source: SourceIdentity) {
        guard sources.count < Self.capacity, !sources.contains(source) else { return }
        sources.append(source)
    }

    /// Forgets sources without a conclusive result, and those that fail while others work; the other requested ones
    /// go to the end.
    mutating func learn(from findings: [OriginFinding], about cause: OriginInquiry.Cause) {
        let isRefuted = findings.contains { cause.isRefuted(by: $0.report) }
        for finding in findings {
            sources.removeAll { $0 == finding.source }
            let isFit = cause.isRefuted(by: finding.report) || finding.report != .nothing && !isRefuted
            if isFit { sources.append(finding.source) }
        }
    }
}
