struct OriginTest: Equatable, Sendable {
    /// The raw value is for operators.
    enum Cause: String, Sendable {
        /// There was no response: no connection, or silence.
        case silence = "no_response"
        /// Every response was a 5xx.
        case serverErrors = "server_errors"

        /// A 5xx of an origin that was silent is a sign of life.
        func isRefuted(by report: OriginReport) -> Bool {
            switch report {
            case .success, .answer, .broken: true
            case .serverError: self == .silence
            case .noResponse, .inconclusive: false
            }
        }
    }

    let sources: [SourceIdentity]
    let cause: Cause
    let phase: UInt64
    let isLast: Bool
    let answers: UInt64
    /// The number of responses below 500 before it began.
    let goodResponses: UInt64
}

/// The first few sources of an origin that have worked, while they continue to work.
///
/// Later ones do not replace them; otherwise the most active client would determine them.
struct WorkingSources {
    private static let capacity = 3

    /// The sources in the order in which they are requested.
    private(set) var sources: [SourceIdentity] = []

    mutating func add(_ source: SourceIdentity) {
        guard sources.count < Self.capacity, !sources.contains(source) else { return }
        sources.append(source)
    }

    /// Forgets sources without a conclusive result, and those that fail while others work.
    mutating func update(from findings: [OriginTestResult], about cause: OriginTest.Cause) {
        let isRefuted = findings.contains { cause.isRefuted(by: $0.report) }
        for finding in findings {
            sources.removeAll { $0 == finding.source }
            let keepsWorking = cause.isRefuted(by: finding.report) || finding.report != .inconclusive && !isRefuted
            if keepsWorking { sources.append(finding.source) }
        }
    }
}
