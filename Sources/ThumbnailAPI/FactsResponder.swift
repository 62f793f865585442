import Coordination
import Downloading
import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

struct FactsResponder: Sendable {
    let thumbnails: any ThumbnailRendering
    let fields: ResponseFields
    let timekeeper: any Timekeeper

    func outcome(of request: FactsRequest, for job: Job, in context: RequestContext) async throws -> Outcome {
        let facts = try await thumbnails.facts(request, for: job)
        let written = job.request.form.factsWriter?.response(about: facts)
        let text = written?.text ?? FactsText.text(facts, of: job.request.source.string, requested: request)
        let eTag = Preconditions.eTag(of: text)
        let fields = fields.facts(
            facts, to: job.resolved, mediaType: written?.mediaType ?? "application/json", eTag: eTag,
            secondsLeft: job.request.expires.map { $0 - timekeeper.secondsSince1970 })
        let response = Preconditions.response(
            HTTPResponse(status: .ok, headerFields: fields, body: .text(text)),
            to: context.request?.headerFields ?? [:], eTag: eTag, lastModified: facts.lastModified)
        return Outcome(
            response: response, timings: facts.timings, label: job.resolved.label, cache: CacheUse(facts.cacheStatus))
    }
}
