struct OriginTest: Equatable, Sendable {
    /// Why the origin is suspect; operators see the raw value.
    enum Cause: String, Sendable {
        /// No response: connections failed or timed out.
        case silence = "no_response"
        /// Every response was a 5xx.
        case serverErrors = "server_errors"

        /// If the origin was silent, even a 5xx proves that it responds.
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
    /// The number of responses below 500 before the test began.
    let goodResponses: UInt64
}

/// The first few sources of an origin that have worked, while they continue to work.
///
/// Later ones do not replace them: otherwise the most active client would determine the sources.
struct WorkingSources {
    private static let capacity = 3

    /// The sources in test order.
    private(set) var sources: [SourceIdentity] = []

    mutating func add(_ source: SourceIdentity) {
        guard sources.count < Self.capacity, !sources.contains(source) else { return }
        sources.append(source)
    }

    /// Drops sources without a conclusive result, and sources that fail while others work.
    mutating func update(from findings: [OriginTestResult], about cause: OriginTest.Cause) {
        let isRefuted = findings.contains { cause.isRefuted(by: $0.report) }
        for finding in findings {
            sources.removeAll { $0 == finding.source }
            let keepsWorking = cause.isRefuted(by: finding.report) || finding.report != .inconclusive && !isRefuted
            if keepsWorking { sources.append(finding.source) }
        }
    }
}
