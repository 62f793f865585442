import Dialects
import HTTPTypes
import JSON
import ThumbnailTypes

struct FailureWriter: Sendable {
    let common: HTTPFields
    let revealsRules: Bool
    let lifecycle: ServiceLifecycle

    func answer(to error: any Error, _ exchange: Exchange, source: String? = nil) -> Answer {
        let error = lifecycle.failure(behind: error)
        return Answer(response: exchange.route.response(to: problem(error, exchange)), source: source, error: error)
    }

    func problem(_ error: any ServiceError, _ exchange: Exchange) -> Problem {
        Problem(error, requestID: exchange.id, common: common, revealsRules: revealsRules)
    }
}

struct HealthResponses: Sendable {
    let failures: FailureWriter

    var live: HTTPResponse { ok("live") }

    /// For load balancers: 503 once the shutdown has begun.
    func ready(_ exchange: Exchange) -> HTTPResponse {
        failures.lifecycle.isReady ? ok("ready") : failures.problem(APIError.draining, exchange).response
    }

    private func ok(_ status: String) -> HTTPResponse {
        .uncached(
            JSONValue.object([("status", .string(status))]).text, mediaType: "application/json",
            common: failures.common)
    }
}
