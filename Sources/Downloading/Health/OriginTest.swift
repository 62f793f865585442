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
            case .success, .response, .broken: true
            case .serverError: self == .silence
            case .noResponse, .inconclusive: false
            }
        }
    }

    let sources: [SourceIdentity]
    let cause: Cause
    let phase: UInt64
    /// Whether its failure suspends the origin; false if the result of a probe follows.
    let isLast: Bool
    let responses: UInt64
    /// The number of responses below 500 before the test began.
    let successfulResponses: UInt64
}
