import Dialects
import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

struct FallbackRedirects: Sendable {
    let policy: any ThumbnailLookup
    let failures: FailureWriter

    func outcome(of error: any ServiceError, for resolved: ResolvedRequest, in context: RequestContext) -> Outcome {
        guard error.category != .overload, error.category != .canceled,
            ![.sourceUnauthorized, .sourceForbidden].contains(error.response.code),
            let location = resolved.request.form.fallback.flatMap(location(of:))
        else { return failures.outcome(of: error, in: context, label: resolved.label).varying(as: resolved) }
        // The body contains the problem as JSON, which explains the redirect.
        let problem = failures.problem(error, in: context).response
        var fields = HTTPFields(problem.headerFields.filter { $0.name != .contentType && $0.name != .retryAfter })
        fields.append(.contentType, "application/json")
        fields.append(.location, URLEscape.location(location.string))
        fields.append(.alulaError, error.code)
        return Outcome(
            response: HTTPResponse(status: .found, headerFields: fields, body: problem.body),
            label: resolved.label, error: error
        ).varying(as: resolved)
    }

    private func location(of fallback: Fallback) -> ExactText? {
        guard policy.mayFetch(fallback.url) else { return nil }
        switch fallback {
        case .configured(let url): return url
        case .named(let url, let target): return policy.isAllowedByName(url) ? url : target
        }
    }
}

extension Outcome {
    /// Adds `Vary`, because failures of private sources differ by client.
    fileprivate func varying(as resolved: ResolvedRequest) -> Outcome {
        guard !resolved.forwardedNames.isEmpty, let vary = resolved.vary else { return self }
        var outcome = self
        outcome.response.headerFields.append(.vary, vary)
        return outcome
    }
}
