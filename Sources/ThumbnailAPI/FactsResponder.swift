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

    func answer(_ wanted: FactsRequest, for job: Job, _ exchange: Exchange) async throws -> Answer {
        let facts = try await thumbnails.facts(wanted, for: job)
        let request = job.request
        let written = request.form.factsWriter?.answer(about: facts)
        let text = written?.text ?? FactsText.text(facts, of: request.source.string, requested: wanted)
        let eTag = Preconditions.eTag(of: text)
        var fields = common
        fields.append(.contentType, written?.mediaType ?? "application/json")
        fields.append(.eTag, eTag)
        if let date = facts.lastModified { fields.append(.lastModified, date.imfFixdate) }
        let secondsLeft = request.expires.map { $0 - timekeeper.secondsSince1970 }
        fields.append(.cacheControl, facts.freshness.cacheControl(secondsLeft: secondsLeft))
        fields.append(.cacheStatus, CacheStatusText.text(facts.cacheStatus))
        if let age = facts.freshness.age { fields.append(.age, String(age)) }
        if let cacheTagField, let tags = cacheTagField.value(job.resolved) { fields.append(cacheTagField.name, tags) }
        let response = Preconditions.answer(
            HTTPResponse(status: .ok, headerFields: fields, body: .text(text)),
            to: exchange.request?.headerFields ?? [:], eTag: eTag, lastModified: facts.lastModified)
        return Answer(response: response, timings: facts.timings, source: request.source.string)
    }
}
