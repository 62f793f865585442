import Dialects
import HTTPTypes
import JSON
import ThumbnailPipeline
import ThumbnailTypes

struct FailureWriter: Sendable {
    let common: HTTPFields
    let revealsRules: Bool
    let lifecycle: ServiceLifecycle

    func outcome(of error: any Error, in context: RequestContext, label: RequestLabel? = nil) -> Outcome {
        let error = lifecycle.failure(behind: error)
        var response = context.route.response(to: problem(error, in: context))
        if let challenge = error.response.challenge { response.headerFields.append(.wwwAuthenticate, challenge) }
        return Outcome(response: response, label: label, error: error)
    }

    func problem(_ error: any ServiceError, in context: RequestContext) -> Problem {
        Problem(error, requestID: context.id, common: common, revealsRules: revealsRules)
    }
}

struct HealthResponses: Sendable {
    let failures: FailureWriter

    var live: HTTPResponse { ok("live") }

    /// Returns 503 during a shutdown, so that load balancers stop sending requests.
    func ready(_ context: RequestContext) -> HTTPResponse {
        failures.lifecycle.isReady ? ok("ready") : failures.problem(APIError.draining, in: context).response
    }

    private func ok(_ status: String) -> HTTPResponse {
        .uncached(
            JSONValue.object([("status", .string(status))]).text, mediaType: "application/json",
            common: failures.common)
    }
}
