import Coordination
import HTTPTypes
import Imaging
import ThumbnailPipeline
import ThumbnailTypes

/// Gives answers that are the same for all requests for a cached thumbnail, and gives them again.
///
/// Used on all event threads. See docs/decisions/014-the-hot-path.md.
final class RepeatedAnswers: Sendable {
    private let thumbnails: any ThumbnailLookup
    private let lifecycle: ServiceLifecycle
    private let recorder: ExchangeRecorder
    private let timekeeper: any Timekeeper
    private let fields: ThumbnailFields

    /// Answers with what the result cache of `thumbnails` holds.
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

    /// The answer with a cached thumbnail, which counts as given; nil if each request needs an answer of its own: when
    /// every request is logged, since each line has another request ID, and when the target expires.
    func answer(_ thumbnail: Thumbnail, to prepared: PreparedQuery, since start: Duration) -> HTTPAnswer? {
        response(thumbnail, to: prepared, since: start, second: timekeeper.secondsSince1970)
            .map { .again($0, by: RecurringThumbnail(prepared, of: self)) }
    }

    /// The answer to a request that had a recurring one before; nil if the request has to be read again.
    ///
    /// The answer is the same as `last` within a second, until an entry leaves the caches. Then the caches, which all
    /// event threads share, are not asked; so a use of the entry is noted in them only once a second.
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

    /// The fields of an answer with `thumbnail` that do not depend on the moment; those of a cached thumbnail are kept.
    func lastingFields(_ thumbnail: Thumbnail, _ prepared: PreparedQuery) -> HTTPFields {
        template(for: thumbnail, prepared)?.fields
            ?? fields.lasting(
                thumbnail, to: prepared, secondsLeft: prepared.expires.map { $0 - timekeeper.secondsSince1970 })
    }

    /// The template beside a cached thumbnail; nil if the target expires, because its `max-age` shrinks.
    private func template(for thumbnail: Thumbnail, _ prepared: PreparedQuery) -> ThumbnailAnswerTemplate? {
        guard let place = thumbnail.place, prepared.expires == nil else { return nil }
        return ThumbnailAnswerTemplate.template(for: thumbnail, prepared, at: place) {
            fields.lasting(thumbnail, to: prepared, secondsLeft: nil)
        }
    }
}

/// The answer to a target that a connection requests again and again: the thumbnail that the caches hold at that time.
private final class RecurringThumbnail: RecurringAnswer {
    private let prepared: PreparedQuery
    private let answers: RepeatedAnswers
    private let last = Locked<DatedResponse?>(nil)

    init(_ prepared: PreparedQuery, of answers: RepeatedAnswers) {
        self.prepared = prepared
        self.answers = answers
    }

    /// Nil if the thumbnail is no longer cached and fresh, or the service is draining.
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
    /// The second since 1970 that its fields tell.
    let second: Int
    /// ``ThumbnailLookup/generation`` before the response was made.
    let generation: Int
}
