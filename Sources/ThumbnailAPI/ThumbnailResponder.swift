import Coordination
import Crypto
import Dialects
import Downloading
import HTTPTypes
import Imaging
import Memory
import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Answers requests for images in all dialects.
///
/// A thumbnail in the result cache is served on the calling event thread, any other one in a separate task.
final class ThumbnailResponder: Sendable {
    private let honorsClientCacheControl: Bool
    private let requestTimeout: Duration
    private let tellsRules: Bool
    private let policy: ClientPolicy
    private let cacheTagField: CacheTagField?
    private let tagsAreSigned: Bool
    private let thumbnails: any ThumbnailServing
    private let lifecycle: ServiceLifecycle
    private let recorder: ExchangeRecorder
    private let timekeeper: any Timekeeper
    private let common: HTTPFields
    private let repeatedAnswers: RepeatedAnswers
    private let queries = PreparedQueries()
    private let standIns: FallbackImageAnswers

    init(
        configuration: APIConfiguration, thumbnails: any ThumbnailServing, lifecycle: ServiceLifecycle,
        recorder: ExchangeRecorder, timekeeper: any Timekeeper, common: HTTPFields
    ) {
        honorsClientCacheControl = configuration.honorsClientCacheControl
        requestTimeout = configuration.requestTimeout
        tellsRules = configuration.tellsRules
        policy = configuration.clientPolicy
        cacheTagField = configuration.cacheTagField
        tagsAreSigned = configuration.nativeDialect.signatures == .demanded
        self.thumbnails = thumbnails
        standIns = FallbackImageAnswers(thumbnails: thumbnails)
        self.lifecycle = lifecycle
        self.recorder = recorder
        self.timekeeper = timekeeper
        self.common = common
        repeatedAnswers = RepeatedAnswers(
            thumbnails, fields: ThumbnailFields(common: common, cacheTagField: configuration.cacheTagField),
            lifecycle: lifecycle, recorder: recorder, timekeeper: timekeeper)
    }

    /// Responds to a request in the dialect of `route`; called on an event thread.
    ///
    /// The signature is checked first, then the grammar, then the expiry; a miss is rejected here if too many requests
    /// wait.
    func answer(_ request: HTTPRequest, _ exchange: Exchange, at route: ImageRoute) -> HTTPReply {
        let target = RequestedTarget(request)
        let prepared: PreparedQuery
        do {
            prepared = try preparedQuery(for: request, at: route)
            try admit(prepared)
        } catch {
            let response = failure(error, exchange, source: nil)
            guard let fallbackImage = route.dialect.fallbackImage(for: target) else { return .now(response) }
            return .later { [self] in await standIns.answer(fallbackImage, to: response, exchange.requestID) }
        }
        let directives = directives(of: request)
        let admitted = AdmittedRequest(
            fields: request.headerFields, prepared: prepared, exchange: exchange,
            fallbackImage: route.dialect.fallbackImage(for: target))
        if let facts = prepared.query.answer.facts {
            return .later { [self] in Self.receipted(await response(to: admitted, facts, directives ?? .none), admitted)
            }
        }
        if directives == nil, let thumbnail = thumbnails.cachedThumbnail(for: prepared.recurring) {
            return hit(thumbnail, admitted)
        }
        if let refusal = thumbnails.refusal(of: prepared.recurring) {
            return .now(failure(refusal, exchange, source: admitted.source))
        }
        if directives == nil, let look = thumbnails.sharedLook(for: prepared.recurring) {
            return .soon(wait(for: look, admitted))
        }
        return computed(admitted, directives ?? .none)
    }

    /// Responds in a separate task.
    private func computed(
        _ admitted: AdmittedRequest, _ directives: RequestCacheControl, after look: EarlierLookup? = nil
    ) -> HTTPReply {
        .later { [self] in Self.receipted(await response(to: admitted, directives, after: look), admitted) }
    }

    /// Waits for a result that other instances may have stored; a task continues if more work is needed.
    private func wait(for look: any SharedLooking, _ admitted: AdmittedRequest) -> ShortWait {
        ShortWait(begin: look.begin) { [self] in
            switch look.finish() {
            case .thumbnail(let thumbnail):
                noteTags(of: admitted)
                return .now(Self.receipted(success(thumbnail, admitted), admitted))
            case .question: return .soon(wait(for: look, admitted))
            case .work(let look): return computed(admitted, .none, after: look)
            }
        } abandoned: { [self] in
            _ = failure(lifecycle.abandonment, admitted)
        }
    }

    private func noteTags(of admitted: AdmittedRequest) {
        thumbnails.noteTags(of: admitted.prepared.recurring, by: tagger(of: admitted.exchange))
    }

    /// Returns the client whose tags are counted; nil if they are signed.
    private func tagger(of exchange: Exchange) -> ClientNetwork? {
        tagsAreSigned ? nil : ClientNetwork(of: exchange.client)
    }

    private static func receipted(_ response: HTTPResponse, _ admitted: AdmittedRequest) -> HTTPResponse {
        var response = response
        response.headerFields.append(.alulaReceipt, admitted.exchange.requestID)
        return response
    }

    private func preparedQuery(
        for request: HTTPRequest, at route: ImageRoute
    ) throws(APIError) -> PreparedQuery {
        try queries.query(for: request) { target throws(APIError) in
            guard route.isOpen, route.dialect.isAuthentic(target) else { throw .badSignature }
            let query = try policy.query(in: target, of: route.dialect)
            return PreparedQuery(
                query, thumbnails.resolved(query.request), at: route, cacheTagField: cacheTagField)
        }
    }

    private func directives(of request: HTTPRequest) -> RequestCacheControl? {
        guard honorsClientCacheControl else { return nil }
        return request.headerFields[.cacheControl].map { RequestCacheControl($0) }
    }

    private func admit(_ prepared: PreparedQuery) throws(APIError) {
        if let expires = prepared.expires, expires <= timekeeper.secondsSince1970 { throw .expired }
        if lifecycle.isDraining { throw .draining }
    }
}

private struct AdmittedRequest: Sendable {
    let fields: HTTPFields
    let prepared: PreparedQuery
    let exchange: Exchange
    /// The fallback image for failures; nil to respond with the error.
    let fallbackImage: FallbackImage?

    /// The source as the client named it.
    var source: String { prepared.query.request.source.string }

    /// Returns the dialect's response that replaces the image; nil if the image is requested.
    func written(about thumbnail: Thumbnail) -> Written? {
        guard let answer = prepared.query.answer.writer?.answer(about: thumbnail) else { return nil }
        switch answer.body {
        case .text(let text):
            return Written(
                mediaType: answer.mediaType, eTag: ThumbnailResponder.eTag(of: text), body: .text(text))
        case .thumbnail:
            return Written(
                mediaType: answer.mediaType, eTag: thumbnail.eTag, body: .shared(thumbnail.image.bytes))
        }
    }
}

private struct Written {
    let mediaType: String
    let eTag: String
    let body: HTTPResponse.Body
}

extension HTTPFields {
    /// Adapts the fields of an image's response to the dialect's response that replaces it.
    fileprivate func describing(_ written: Written) -> HTTPFields {
        var fields = HTTPFields(
            filter {
                ![.contentType, .eTag, .contentDisposition, .imageWidth, .imageHeight].contains($0.name)
            })
        fields.append(.contentType, written.mediaType)
        fields.append(.eTag, written.eTag)
        return fields
    }
}

extension ThumbnailResponder {
    private enum Outcome: Sendable {
        case thumbnail(Thumbnail)
        case placeholder(EncodedImage, any ServiceError)
    }

    /// Runs in the request's own task, which is canceled when the client disconnects.
    private func response(
        to admitted: AdmittedRequest, _ directives: RequestCacheControl, after look: EarlierLookup?
    ) async -> HTTPResponse {
        do {
            let deadline = admitted.exchange.startedAt + requestTimeout
            let made = try await withDeadline(deadline, by: timekeeper) { [self] () async throws -> Outcome in
                try await outcome(admitted, directives, after: look)
            }
            try Task.checkCancellation()
            switch made {
            case .thumbnail(let thumbnail): return success(thumbnail, admitted)
            case .placeholder(let image, let error): return placeholder(image, error, admitted)
            }
        } catch {
            let response = failure(lifecycle.failure(behind: error), admitted)
            guard let fallbackImage = admitted.fallbackImage, !Task.isCancelled else { return response }
            return await standIns.answer(fallbackImage, to: response, admitted.exchange.requestID)
        }
    }

    /// Responds to a request for facts; also runs in the request's own task.
    private func response(
        to admitted: AdmittedRequest, _ facts: FactsRequest, _ directives: RequestCacheControl
    ) async -> HTTPResponse {
        do {
            let deadline = admitted.exchange.startedAt + requestTimeout
            let found = try await withDeadline(deadline, by: timekeeper) { [self] () async throws -> SourceFacts in
                try await thumbnails.facts(
                    facts,
                    for: Call(admitted.prepared.recurring, directives: directives, receipt: admitted.exchange.requestID)
                )
            }
            try Task.checkCancellation()
            return success(found, admitted, facts)
        } catch {
            return failure(lifecycle.failure(behind: error), admitted)
        }
    }

    private func outcome(
        _ admitted: AdmittedRequest, _ directives: RequestCacheControl, after look: EarlierLookup?
    ) async throws -> Outcome {
        do {
            return .thumbnail(
                try await thumbnails.thumbnail(
                    for: Call(
                        admitted.prepared.recurring, directives: directives, after: look,
                        by: tagger(of: admitted.exchange), receipt: admitted.exchange.requestID)))
        } catch let error as any ServiceError {
            guard let placeholder = admitted.prepared.query.placeholder, Self.deservesPlaceholder(error) else {
                throw error
            }
            do {
                return .placeholder(try await thumbnails.placeholder(placeholder), error)
            } catch is any ServiceError {
                // The source's own error is more useful than its placeholder's.
                throw error
            }
        }
    }

    /// Returns whether a placeholder may replace this failure: not for an invalid request, a rejection or a fault of
    /// the service.
    private static func deservesPlaceholder(_ error: any ServiceError) -> Bool {
        switch error.status {
        case .unsupportedMediaType, .unprocessableContent, .badGateway: true
        default: error.code == "source_not_found" || error.code == "origin_timeout"
        }
    }
}

extension ThumbnailResponder {
    private func hit(_ thumbnail: Thumbnail, _ admitted: AdmittedRequest) -> HTTPReply {
        noteTags(of: admitted)
        // A sampled request needs its own response, because the next one is not sampled with it.
        if !Preconditions.areStated(in: admitted.fields), admitted.prepared.query.answer.writer == nil,
            admitted.exchange.trace.map({ !$0.context.isSampled }) ?? true,
            let answer = repeatedAnswers.answer(thumbnail, to: admitted.prepared, since: admitted.exchange.startedAt)
        {
            return answer
        }
        return .now(success(thumbnail, admitted))
    }

    private func success(_ thumbnail: Thumbnail, _ admitted: AdmittedRequest) -> HTTPResponse {
        var fields = repeatedAnswers.lastingFields(thumbnail, admitted.prepared)
        if let age = thumbnail.freshness.age { fields.append(.age, String(age)) }
        var (eTag, body) = (thumbnail.eTag, HTTPResponse.Body.shared(thumbnail.image.bytes))
        if let written = admitted.written(about: thumbnail) {
            (eTag, body) = (written.eTag, written.body)
            fields = fields.describing(written)
        }
        let response = Preconditions.answer(
            HTTPResponse(status: .ok, headerFields: fields, body: body), to: admitted.fields, eTag: eTag,
            lastModified: thumbnail.lastModified)
        return recorder.finish(response, admitted.exchange, timings: thumbnail.timings, source: admitted.source)
    }

    private func success(_ facts: SourceFacts, _ admitted: AdmittedRequest, _ request: FactsRequest) -> HTTPResponse {
        let written = admitted.prepared.query.answer.factsWriter?.answer(about: facts)
        let text = written?.text ?? FactsText.text(facts, of: admitted.source, asked: request)
        let tag = Self.eTag(of: text)
        var fields = common
        fields.append(.contentType, written?.mediaType ?? "application/json")
        fields.append(.eTag, tag)
        if let date = facts.lastModified { fields.append(.lastModified, date.imfFixdate) }
        let secondsLeft = admitted.prepared.expires.map { $0 - timekeeper.secondsSince1970 }
        fields.append(.cacheControl, facts.freshness.cacheControl(secondsLeft: secondsLeft))
        fields.append(.cacheStatus, CacheStatusText.text(facts.cacheStatus))
        if let age = facts.freshness.age { fields.append(.age, String(age)) }
        if let cacheTagField, let tags = admitted.prepared.cacheTags { fields.append(cacheTagField.name, tags) }
        let response = Preconditions.answer(
            HTTPResponse(status: .ok, headerFields: fields, body: .text(text)), to: admitted.fields, eTag: tag,
            lastModified: facts.lastModified)
        return recorder.finish(response, admitted.exchange, timings: facts.timings, source: admitted.source)
    }

    fileprivate static func eTag(of text: String) -> String {
        let bytes = Array(text.utf8)
        return unsafe "\"\(Base64URL.encode(Array(SHA256.hash(bytes.span.bytes).bytes.prefix(16))))\""
    }

    /// Responds with a placeholder and the fields of a 200.
    ///
    /// `Cache-Status` contains only the first cache: the failure does not record which others were consulted.
    private func placeholder(
        _ image: EncodedImage, _ error: any ServiceError, _ admitted: AdmittedRequest
    ) -> HTTPResponse {
        let digest = image.bytes.withBytes { SHA256.hash($0) }
        let thumbnail = Thumbnail(
            image: image, eTag: "\"\(digest.hexadecimal)\"", lastModified: nil,
            freshness: Freshness(storability: .none), cacheStatus: [CacheLayerStatus(.result, .uriMiss)], timings: [])
        var fields = repeatedAnswers.lastingFields(thumbnail, admitted.prepared)
        fields.append(.alulaError, error.code)
        let response = HTTPResponse(status: .ok, headerFields: fields, body: .shared(image.bytes))
        return recorder.finish(response, admitted.exchange, source: admitted.source, error: error)
    }

    /// Responds to a failed request; if the target has an allowed fallback URL, redirects there.
    private func failure(_ error: any ServiceError, _ admitted: AdmittedRequest) -> HTTPResponse {
        guard error.category != .overload, error.category != .cancelled,
            let location = admitted.prepared.query.answer.fallback.flatMap(location(of:))
        else {
            return failure(error, admitted.exchange, source: admitted.source)
        }
        // The body contains the problem as plain JSON, which explains the redirect.
        let problem = problem(error, admitted.exchange).response
        var fields = HTTPFields(problem.headerFields.filter { $0.name != .contentType && $0.name != .retryAfter })
        fields.append(.contentType, "application/json")
        fields.append(.location, URLEscape.location(location.string))
        fields.append(.alulaError, error.code)
        let response = HTTPResponse(status: .found, headerFields: fields, body: problem.body)
        return recorder.finish(response, admitted.exchange, source: admitted.source, error: error)
    }

    /// Returns the value of `Location` for a fallback; nil if policy forbids it.
    private func location(of fallback: Fallback) -> ExactText? {
        guard thumbnails.mayFetch(fallback.url) else { return nil }
        switch fallback {
        case .configured(let url): return url
        case .named(let url, let target): return thumbnails.isAllowedByName(url) ? url : target
        }
    }

    private func failure(_ error: any ServiceError, _ exchange: Exchange, source: String?) -> HTTPResponse {
        let response = exchange.route.response(to: problem(error, exchange))
        return recorder.finish(response, exchange, source: source, error: error)
    }

    private func problem(_ error: any ServiceError, _ exchange: Exchange) -> Problem {
        Problem(error, requestID: exchange.requestID, common: common, tellsRules: tellsRules)
    }
}
