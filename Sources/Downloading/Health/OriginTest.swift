struct OriginTest: Equatable, Sendable {
    /// The raw value is for operators.
    enum Cause: String, Sendable {
        /// There was no response: no connection, or silence.
        case silence = "no_response"
        /// Every response was a 5xx.
        case serverErrors = "server_errors"

        /// Returns whether one such result shows that the origin works; from an origin that was silent, a 5xx is a sign
        /// of life.
        func isRefuted(by report: OriginReport) -> Bool {
            switch report {
            case .success, .answer, .broken: true
            case .serverError: self == .silence
            case .noResponse, .nothing: false
            }
        }
    }

    /// The sources to request, one after another until one works.
    let sources: [SourceIdentity]
    let cause: Cause
    let phase: UInt64
    /// Whether it decides; if not, and no source works, the probe's own result decides.
    let isLast: Bool
    let answers: UInt64
    /// The number of responses below 500 before it began.
    let goodResponses: UInt64
}

/// A few sources of one origin that have worked: the first ones, while they continue to work.
///
/// Later ones do not replace them; otherwise the most active client would determine them.
struct WorkingSources {
    private static let capacity = 3

    /// In the order in which they are requested.
    private(set) var sources: [SourceIdentity] = []

    /// Remembers a source that has worked, if there is room.
    mutating func add(_ source: SourceIdentity) {
        guard sources.count < Self.capacity, !sources.contains(source) else { return }
        sources.append(source)
    }

    /// Forgets sources without a conclusive result, and those that fail while others work; moves the other requested
    /// ones to the end.
    mutating func update(from findings: [OriginTestResult], about cause: OriginTest.Cause) {
        let isRefuted = findings.contains { cause.isRefuted(by: $0.report) }
        for finding in findings {
            sources.removeAll { $0 == finding.source }
            let isFit = cause.isRefuted(by: finding.report) || finding.report != .nothing && !isRefuted
            if isFit { sources.append(finding.source) }
        }
    }
}
