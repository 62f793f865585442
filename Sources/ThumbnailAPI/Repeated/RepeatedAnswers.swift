import Coordination
import HTTPTypes
import Imaging
import ThumbnailPipeline
import ThumbnailTypes

/// Builds responses that are equal for all requests for a cached thumbnail, and reuses them.
///
/// Used on all event threads. See docs/decisions/014-the-hot-path.md.
final class RepeatedAnswers: Sendable {
    private let thumbnails: any ThumbnailLookup
    private let lifecycle: ServiceLifecycle
    private let recorder: ExchangeRecorder
    private let timekeeper: any Timekeeper
    private let fields: ThumbnailFields

    init(
        _ thumbnails: any ThumbnailLookup, fields: ThumbnailFields, lifecycle: ServiceLifecycle,
        recorder: ExchangeRecorder, timekeeper: any Timekeeper
    ) {
        self.thumbnails = thumbnails
        self.fields = fields
        self.lifecycle = lifecycle
        self.recorder = recorder
        self.timekeeper = timekeeper
    }

    /// Responds with a cached thumbnail and records it; returns nil if each request needs its own response.
    ///
    /// That is the case when every request is logged, because each line has another request ID, and when the target
    /// expires.
    func answer(_ thumbnail: Thumbnail, to prepared: PreparedQuery, since start: Duration) -> HTTPReply? {
        response(thumbnail, to: prepared, since: start, second: timekeeper.secondsSince1970)
            .map { .again($0, by: RecurringThumbnail(prepared, of: self)) }
    }

    /// Responds to a repeated request; returns nil if it must be parsed again.
    ///
    /// The response equals `last` within a second, until an entry leaves the caches. Then the caches, which all event
    /// threads share, are not accessed, so they record the use of an entry only once a second.
    fileprivate func response(to prepared: PreparedQuery, after last: DatedResponse?) -> DatedResponse? {
        let start = timekeeper.now
        guard !lifecycle.isDraining else { return nil }
        let second = timekeeper.secondsSince1970
        let generation = thumbnails.generation
        if let last, last.second == second, last.generation == generation {
            thumbnails.countRepeatedHit()
            recorder.countRepeated(.ok, .images(prepared.route), since: start)
            return last
        }
        guard let thumbnail = thumbnails.cachedThumbnail(for: prepared.recurring),
            let response = response(thumbnail, to: prepared, since: start, second: second)
        else { return nil }
        return DatedResponse(response: response, second: second, generation: generation)
    }

    private func response(
        _ thumbnail: Thumbnail, to prepared: PreparedQuery, since start: Duration, second: Int
    ) -> RecurringResponse? {
        guard !recorder.isLoggingAll, let template = template(for: thumbnail, prepared) else { return nil }
        recorder.count(.ok, .images(prepared.route), since: start)
        let age = thumbnail.freshness.age
        return template.response(age: age, second: second) {
            var fields = template.fields
            fields.append(.date, HTTPDate(secondsSince1970: second).imfFixdate)
            if let age { fields.append(.age, String(age)) }
            fields.append(.serverTiming, ServerTimingText.ofHits)
            return HTTPResponse(status: .ok, headerFields: fields, body: .shared(thumbnail.image.bytes))
        }
    }

    /// Returns the fields of a response with `thumbnail` that do not change over time; cached thumbnails store them.
    func lastingFields(_ thumbnail: Thumbnail, _ prepared: PreparedQuery) -> HTTPFields {
        template(for: thumbnail, prepared)?.fields
            ?? fields.lasting(
                thumbnail, to: prepared, secondsLeft: prepared.expires.map { $0 - timekeeper.secondsSince1970 })
    }

    /// Returns the template stored with a cached thumbnail; nil if the target expires, because its `max-age` shrinks.
    private func template(for thumbnail: Thumbnail, _ prepared: PreparedQuery) -> ThumbnailAnswerTemplate? {
        guard let place = thumbnail.place, prepared.expires == nil else { return nil }
        return ThumbnailAnswerTemplate.template(for: thumbnail, prepared, at: place) {
            fields.lasting(thumbnail, to: prepared, secondsLeft: nil)
        }
    }
}

/// The response to a target that a connection requests repeatedly: the thumbnail that is cached at that time.
private final class RecurringThumbnail: RecurringResponder {
    private let prepared: PreparedQuery
    private let answers: RepeatedAnswers
    private let last = Locked<DatedResponse?>(nil)

    init(_ prepared: PreparedQuery, of answers: RepeatedAnswers) {
        self.prepared = prepared
        self.answers = answers
    }

    /// Returns nil if the thumbnail is no longer cached and fresh, or the service is draining.
    func response() -> RecurringResponse? {
        let known = last.withLock { $0 }
        let new = answers.response(to: prepared, after: known)
        if new?.second != known?.second || new?.generation != known?.generation { last.withLock { $0 = new } }
        return new?.response
    }
}

/// A response with the facts that it depends on.
private struct DatedResponse {
    let response: RecurringResponse
    /// The second since 1970 of its fields.
    let second: Int
    /// ``ThumbnailLookup/generation`` before the response was built.
    let generation: Int
}
