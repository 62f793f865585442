import Coordination
import Downloading
import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

struct FactsResponder: Sendable {
    let thumbnails: any ThumbnailRendering
    let common: HTTPFields
    let cacheTagField: CacheTagField?
    let timekeeper: any Timekeeper

    func outcome(of request: FactsRequest, for job: Job, in context: RequestContext) async throws -> Outcome {
        let facts = try await thumbnails.facts(request, for: job)
        let written = job.request.form.factsWriter?.response(about: facts)
        let text = written?.text ?? FactsText.text(facts, of: job.request.source.string, requested: request)
        let eTag = Preconditions.eTag(of: text)
        let forwarded = job.resolved.forwardedNames
        var fields = forwarded.isEmpty ? common : common.restrictedToSite()
        fields.append(.contentType, written?.mediaType ?? "application/json")
        fields.append(.eTag, eTag)
        if let date = facts.lastModified { fields.append(.lastModified, date.imfFixdate) }
        let secondsLeft = job.request.expires.map { $0 - timekeeper.secondsSince1970 }
        fields.append(.cacheControl, facts.freshness.cacheControl(secondsLeft: secondsLeft))
        if !forwarded.isEmpty { fields.append(.vary, forwarded.map(\.rawName).joined(separator: ", ")) }
        fields.append(.cacheStatus, CacheStatusText.text(facts.cacheStatus))
        if let age = facts.freshness.age { fields.append(.age, String(age)) }
        if let cacheTagField, let tags = cacheTagField.value(job.resolved) { fields.append(cacheTagField.name, tags) }
        let response = Preconditions.response(
            HTTPResponse(status: .ok, headerFields: fields, body: .text(text)),
            to: context.request?.headerFields ?? [:], eTag: eTag, lastModified: facts.lastModified)
        return Outcome(
            response: response, timings: facts.timings, label: job.resolved.label, cache: CacheUse(facts.cacheStatus))
    }
}
