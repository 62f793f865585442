/// A question to sources of an origin that have worked: whether it is the origin that fails, and not the URLs asked for.
struct OriginInquiry: Equatable, Sendable {
    /// Why the origin is suspected.
    enum Cause: Sendable {
        /// Nothing came back: no connection, or silence.
        case silence
        /// Every answer was a 5xx.
        case serverErrors

        /// Whether one such end shows that the origin is well enough; to one that was silent, a 5xx is a sign of life.
        func isRefuted(by report: OriginReport) -> Bool {
            switch report {
            case .success, .answer, .broken: true
            case .serverError: self == .silence
            case .noAnswer, .nothing: false
            }
        }
    }

    /// Whom to ask, one after another until one speaks for the origin.
    let sources: [SourceIdentity]
    /// What they are to refute.
    let cause: Cause
    /// The phase that the inquiry belongs to.
    let phase: UInt64
    /// Whether it decides; else the probe's own end does, where no source speaks for the origin.
    let isLast: Bool
    /// The answers of any kind before it began.
    let answers: UInt64
    /// The answers below 500 before it began.
    let goodAnswers: UInt64
}

/// What one source of an inquiry said.
struct OriginFinding: Sendable {
    /// The source.
    let source: SourceIdentity
    /// What its transfer's end said.
    let report: OriginReport
}

/// A few sources of one origin that have worked: the first ones, for as long as they do.
///
/// They are not exchanged for later ones, or whoever asks most would choose them.
struct KnownSources {
    private static let capacity = 3

    /// In the order in which they are asked.
    private(set) var sources: [SourceIdentity] = []

    /// Remembers a source that has worked, where there is room.
    mutating func add(_ source: SourceIdentity) {
        guard sources.count < Self.capacity, !sources.contains(source) else { return }
        sources.append(source)
    }

    /// Forgets sources that say nothing any more, and those that fail while others work; the others asked go to the end.
    mutating func learn(from findings: [OriginFinding], about cause: OriginInquiry.Cause) {
        let isRefuted = findings.contains { cause.isRefuted(by: $0.report) }
        for finding in findings {
            sources.removeAll { $0 == finding.source }
            let isFit = cause.isRefuted(by: finding.report) || finding.report != .nothing && !isRefuted
            if isFit { sources.append(finding.source) }
        }
    }
}
