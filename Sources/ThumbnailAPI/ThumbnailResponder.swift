import Coordination
import Crypto
import HTTPTypes
import Imaging
import Memory
import Telemetry
import Text
import ThumbnailPipeline

/// Answers requests for images in all dialects.
///
/// What the result cache holds is answered on the event thread that calls; the rest in a task of its own.
final class ThumbnailResponder: Sendable {
    private let honoursClientCacheControl: Bool
    private let requestTimeout: Duration
    private let thumbnails: any ThumbnailServing
    private let lifecycle: ServiceLifecycle
    private let recorder: ExchangeRecorder
    private let timekeeper: any Timekeeper
    private let common: HTTPFields
    private let fields: ThumbnailFields
    private let queries = PreparedQueries()

    /// Answers with what `thumbnails` makes.
    init(
        configuration: APIConfiguration, thumbnails: any ThumbnailServing, lifecycle: ServiceLifecycle,
        recorder: ExchangeRecorder, timekeeper: any Timekeeper, common: HTTPFields
    ) {
        honoursClientCacheControl = configuration.honoursClientCacheControl
        requestTimeout = configuration.requestTimeout
        self.thumbnails = thumbnails
        self.lifecycle = lifecycle
        self.recorder = recorder
        self.timekeeper = timekeeper
        self.common = common
        fields = ThumbnailFields(common: common)
    }

    /// Called on an event thread: the signature is judged first, then the grammar, then the time; a miss is refused here where too
    /// many wait.
    func answer(_ request: HTTPRequest, _ exchange: Exchange, at route: ImageRoute) -> HTTPAnswer {
        let prepared: PreparedQuery
        do {
            prepared = try preparedQuery(for: RequestedTarget(request), at: route)
            try admit(prepared)
        } catch {
            return .now(failure(error, exchange, source: nil))
        }
        let directives = directives(of: request)
        if directives == nil, let thumbnail = thumbnails.cachedThumbnail(for: prepared.recurring) {
            return hit(thumbnail, request, prepared, exchange)
        }
        if let refusal = thumbnails.refusal(of: prepared.recurring) {
            return .now(failure(refusal, exchange, source: prepared.query.request.source.string))
        }
        return .later { [self] in
            var response = await made(request, prepared, directives ?? .none, exchange)
            response.headerFields.append(.alulaReceipt, exchange.requestID)
            return response
        }
    }

    private func preparedQuery(
        for target: RequestedTarget, at route: ImageRoute
    ) throws(APIError) -> PreparedQuery {
        try queries.query(for: target) { () throws(APIError) in
            guard route.dialect.isAuthentic(target) else { throw .badSignature }
            let query = try route.dialect.query(in: target)
            return PreparedQuery(query, thumbnails.resolved(query.request), at: route)
        }
    }

    /// What the client asks of the caches; nil where that does not count, or nothing is said.
    private func directives(of request: HTTPRequest) -> RequestCacheControl? {
        guard honoursClientCacheControl else { return nil }
        return request.headerFields[.cacheControl].map { RequestCacheControl($0) }
    }

    private func admit(_ prepared: PreparedQuery) throws(APIError) {
        if let secondsLeft = secondsLeft(prepared), secondsLeft <= 0 { throw .expired }
        if lifecycle.isDraining { throw .draining }
    }

    private func secondsLeft(_ prepared: PreparedQuery) -> Int? {
        prepared.expires.map { $0 - timekeeper.secondsSince1970 }
    }
}

extension ThumbnailResponder {
    private enum Outcome: Sendable {
        case thumbnail(Thumbnail)
        case placeholder(EncodedImage, any ServiceError)
    }

    /// Runs in the request's own task, which is cancelled when the client goes away.
    private func made(
        _ request: HTTPRequest, _ prepared: PreparedQuery, _ directives: RequestCacheControl, _ exchange: Exchange
    ) async -> HTTPResponse {
        do {
            let deadline = exchange.startedAt + requestTimeout
            let made = try await withDeadline(deadline, by: timekeeper) { [self] () async throws -> Outcome in
                try await outcome(prepared, directives, receipt: exchange.requestID)
            }
            try Task.checkCancellation()
            switch made {
            case .thumbnail(let thumbnail): return success(thumbnail, request, prepared, exchange)
            case .placeholder(let image, let error): return placeholder(image, error, prepared, exchange)
            }
        } catch {
            return failure(serviceError(error), exchange, source: prepared.query.request.source.string)
        }
    }

    private func outcome(
        _ prepared: PreparedQuery, _ directives: RequestCacheControl, receipt: String
    ) async throws -> Outcome {
        do {
            return .thumbnail(
                try await thumbnails.thumbnail(for: prepared.recurring, directives: directives, receipt: receipt))
        } catch let error as any ServiceError {
            guard let color = prepared.query.placeholder, Self.deservesPlaceholder(error) else { throw error }
            do {
                return .placeholder(try await thumbnails.placeholder(for: prepared.query.request, color: color), error)
            } catch is any ServiceError {
                // The source's own failure says more than that of its stand-in.
                throw error
            }
        }
    }

    /// A placeholder stands in for a source that fails, not for a wrong request, a refusal or trouble of our own.
    private static func deservesPlaceholder(_ error: any ServiceError) -> Bool {
        switch error.status {
        case .unsupportedMediaType, .unprocessableContent, .badGateway: true
        default: error.code == "source_not_found" || error.code == "origin_timeout"
        }
    }

    private func serviceError(_ error: any Error) -> any ServiceError {
        switch error {
        // What else goes wrong when nobody waits any more is nobody's concern.
        case let error as any ServiceError where !Task.isCancelled: error
        case is DeadlineExceeded where !Task.isCancelled: APIError.deadlineExceeded
        case is any ServiceError, is DeadlineExceeded, is CancellationError:
            lifecycle.cancellation ?? APIError.unexpected("cancelled by nobody")
        default: APIError.unexpected("\(type(of: error)): \(error)")
        }
    }
}

extension ThumbnailResponder {
    /// Where no line is logged, a request needs no name, and everybody gets the same answer.
    private func hit(
        _ thumbnail: Thumbnail, _ request: HTTPRequest, _ prepared: PreparedQuery, _ exchange: Exchange
    ) -> HTTPAnswer {
        guard !Preconditions.areStated(in: request.headerFields),
            let response = recurringResponse(
                thumbnail, prepared, since: exchange.startedAt, second: timekeeper.secondsSince1970)
        else { return .now(success(thumbnail, request, prepared, exchange)) }
        return .again(response, by: RecurringThumbnail(prepared, of: self))
    }

    /// The answer to a request that had a recurring one before; nil where it has to be looked at again.
    ///
    /// Within a second, and until something leaves the caches, it is the same as `last`: the caches, which all event threads share,
    /// need not be asked. A use is noted in them at least once a second all the same.
    func recurringResponse(_ prepared: PreparedQuery, after last: DatedResponse?) -> DatedResponse? {
        let start = timekeeper.now
        guard !lifecycle.isDraining else { return nil }
        let second = timekeeper.secondsSince1970
        let generation = thumbnails.generation
        if let last, last.second == second, last.generation == generation {
            thumbnails.countRepeatedHit()
            recorder.count(.ok, .images(prepared.route), since: start)
            return last
        }
        guard let thumbnail = thumbnails.cachedThumbnail(for: prepared.recurring),
            let response = recurringResponse(thumbnail, prepared, since: start, second: second)
        else { return nil }
        return DatedResponse(response: response, second: second, generation: generation)
    }

    private func recurringResponse(
        _ thumbnail: Thumbnail, _ prepared: PreparedQuery, since start: Duration, second: Int
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

    /// What answers with a cached thumbnail have in common; nothing is with a target that expires, because its `max-age` shrinks.
    private func template(for thumbnail: Thumbnail, _ prepared: PreparedQuery) -> ThumbnailAnswerTemplate? {
        guard let place = thumbnail.place, prepared.expires == nil else { return nil }
        return ThumbnailAnswerTemplate.template(for: thumbnail, prepared, at: place) {
            fields.lasting(thumbnail, prepared: prepared, secondsLeft: nil)
        }
    }

    private func success(
        _ thumbnail: Thumbnail, _ request: HTTPRequest, _ prepared: PreparedQuery, _ exchange: Exchange
    ) -> HTTPResponse {
        var answered =
            template(for: thumbnail, prepared)?.fields
            ?? fields.lasting(thumbnail, prepared: prepared, secondsLeft: secondsLeft(prepared))
        if let age = thumbnail.freshness.age { answered.append(.age, String(age)) }
        let isNotModified = Preconditions.isNotModified(
            request.headerFields, eTag: thumbnail.eTag, lastModified: thumbnail.lastModified)
        let response = HTTPResponse(
            status: isNotModified ? .notModified : .ok,
            headerFields: isNotModified ? ThumbnailFields.notModified(answered) : answered,
            body: .shared(thumbnail.image.bytes))
        return recorder.finish(
            response, exchange, timings: thumbnail.timings, source: prepared.query.request.source.string)
    }

    /// Has the fields of a 200.
    ///
    /// Of the caches only the first is known to have been asked, the failure hides the others.
    private func placeholder(
        _ image: EncodedImage, _ error: any ServiceError, _ prepared: PreparedQuery, _ exchange: Exchange
    ) -> HTTPResponse {
        let digest = image.bytes.withBytes { SHA256.hash($0) }
        let thumbnail = Thumbnail(
            image: image, eTag: "\"\(digest.hexadecimal)\"", lastModified: nil,
            freshness: Freshness(storability: .none), cacheStatus: [CacheLayerStatus(.result, .uriMiss)], timings: [])
        var answered = fields.lasting(thumbnail, prepared: prepared, secondsLeft: nil)
        answered.append(.alulaError, error.code)
        let response = HTTPResponse(status: .ok, headerFields: answered, body: .shared(image.bytes))
        return recorder.finish(response, exchange, source: prepared.query.request.source.string, error: error)
    }

    private func failure(_ error: any ServiceError, _ exchange: Exchange, source: String?) -> HTTPResponse {
        let response = exchange.route.response(
            to: Problem(error, requestID: exchange.requestID, common: common))
        return recorder.finish(response, exchange, source: source, error: error)
    }
}
