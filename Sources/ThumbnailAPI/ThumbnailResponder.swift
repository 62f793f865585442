import Coordination
import Crypto
import Dialects
import Downloading
import HTTPTypes
import Memory
import Recipes
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
    private let policy: ClientPolicy
    private let cacheTagField: CacheTagField?
    private let tagsAreSigned: Bool
    private let thumbnails: any ThumbnailServing
    private let failures: FailureWriter
    private let repeated: RepeatedResponses
    private let targets = ParsedTargets()
    private let timekeeper: any Timekeeper

    init(
        _ configuration: APIConfiguration, thumbnails: any ThumbnailServing, failures: FailureWriter,
        repeated: RepeatedResponses, timekeeper: any Timekeeper
    ) {
        honorsClientCacheControl = configuration.honorsClientCacheControl
        requestTimeout = configuration.requestTimeout
        policy = configuration.clientPolicy
        cacheTagField = configuration.cacheTagField
        tagsAreSigned = configuration.nativeDialect.signatures == .required
        self.thumbnails = thumbnails
        self.failures = failures
        self.repeated = repeated
        self.timekeeper = timekeeper
    }

    /// Answers a request in the dialect of `route`; called on an event thread.
    ///
    /// The signature is checked first, then the grammar, then the expiry; a miss is rejected here if too many requests
    /// wait.
    func reply(to request: HTTPRequest, _ exchange: Exchange, at route: ImageRoute) -> Reply {
        let resolved: ResolvedRequest
        do {
            resolved = try resolvedRequest(for: request, at: route)
            if let expires = resolved.request.expires, expires <= timekeeper.secondsSince1970 { throw APIError.expired }
            if failures.lifecycle.isDraining { throw APIError.draining }
        } catch {
            return .ready(withFallbackImage(failures.answer(to: error, exchange), exchange, at: route))
        }
        // The client whose tags are counted; nil if they are signed.
        let tagger = tagsAreSigned ? nil : ClientNetwork(of: exchange.client)
        let directives = honorsClientCacheControl ? request.headerFields[.cacheControl] : nil
        let isPlain = directives == nil && resolved.request.form.facts == nil
        if isPlain, let thumbnail = thumbnails.cachedThumbnail(for: resolved) {
            thumbnails.noteTags(of: resolved, by: tagger)
            return hit(thumbnail, resolved, request, exchange, at: route)
        }
        if resolved.request.form.facts == nil, let refusal = thumbnails.refusal(of: resolved) {
            return .ready(failures.answer(to: refusal, exchange, source: resolved.request.source.string))
        }
        let job = Job(
            resolved, directives: directives.map { RequestCacheControl($0) } ?? .none, by: tagger, receipt: exchange.id)
        if isPlain, let lookup = thumbnails.pendingLookup(for: resolved) {
            return .waiting(wait(for: lookup, job, exchange, at: route))
        }
        return .deferred { [self] in await answer(to: job, exchange, at: route) }
    }

    /// Waits for a result that other instances may have stored; a task continues if more work is needed.
    private func wait(
        for lookup: any PendingLookup, _ job: Job, _ exchange: Exchange, at route: ImageRoute
    ) -> Reply.Wait {
        Reply.Wait(begin: lookup.begin) { [self] in
            switch lookup.finish() {
            case .thumbnail(let thumbnail):
                thumbnails.noteTags(of: job.resolved, by: job.client)
                return .ready(success(thumbnail, job.resolved, exchange, hasReceipt: true))
            case .question: return .waiting(wait(for: lookup, job, exchange, at: route))
            case .work(let lookup):
                return .deferred { [self] in await answer(to: job.after(lookup), exchange, at: route) }
            }
        } onAbandon: { [self] in
            failure(failures.lifecycle.abandonment, job.request, exchange)
        }
    }

    private func resolvedRequest(
        for request: HTTPRequest, at route: ImageRoute
    ) throws(APIError) -> ResolvedRequest {
        try targets.request(for: request) { target throws(APIError) in
            guard route.isOpen, route.dialect.isAuthentic(target) else { throw .badSignature }
            return thumbnails.resolved(try policy.query(in: target, of: route.dialect))
        }
    }

    private func withFallbackImage(_ answer: Answer, _ exchange: Exchange, at route: ImageRoute) -> Answer {
        var answer = answer
        answer.fallbackImage = exchange.request.flatMap { route.dialect.fallbackImage(for: RequestedTarget($0)) }
        return answer
    }
}

extension ThumbnailResponder {
    /// Runs in the request's own task, which is canceled when the client disconnects.
    private func answer(to job: Job, _ exchange: Exchange, at route: ImageRoute) async -> Answer {
        var answer: Answer
        do {
            answer = try await withDeadline(exchange.startedAt + requestTimeout, by: timekeeper) { [self] in
                try await success(of: job, exchange)
            }
            try Task.checkCancellation()
        } catch {
            answer = failure(failures.lifecycle.failure(behind: error), job.request, exchange)
            if job.request.form.facts == nil, !Task.isCancelled {
                answer = withFallbackImage(answer, exchange, at: route)
            }
        }
        answer.hasReceipt = true
        return answer
    }

    /// Returns the facts, the thumbnail, or the placeholder that replaces it.
    private func success(of job: Job, _ exchange: Exchange) async throws -> Answer {
        if let facts = job.request.form.facts {
            return success(try await thumbnails.facts(facts, for: job), job.resolved, exchange, facts)
        }
        do {
            return success(try await thumbnails.thumbnail(for: job), job.resolved, exchange)
        } catch let error as any ServiceError {
            guard let wanted = job.request.placeholder, Self.allowsPlaceholder(error),
                // The source's own error is more useful than its placeholder's.
                let image = try await placeholder(wanted)
            else { throw error }
            return placeholder(image, error, job.resolved)
        }
    }

    /// Returns nil for a placeholder that cannot be rendered.
    private func placeholder(_ placeholder: Placeholder) async throws -> EncodedImage? {
        do {
            return try await thumbnails.placeholder(placeholder)
        } catch is any ServiceError {
            return nil
        }
    }

    /// Returns whether a placeholder may replace this failure: not for an invalid request, a rejection or a fault of
    /// the service.
    private static func allowsPlaceholder(_ error: any ServiceError) -> Bool {
        switch error.status {
        case .unsupportedMediaType, .unprocessableContent, .badGateway: true
        default: error.code == "source_not_found" || error.code == "origin_timeout"
        }
    }

    private func hit(
        _ thumbnail: Thumbnail, _ resolved: ResolvedRequest, _ request: HTTPRequest, _ exchange: Exchange,
        at route: ImageRoute
    ) -> Reply {
        // A sampled request needs its own response, because the next one is not sampled with it.
        if !Preconditions.areStated(in: request.headerFields), resolved.request.form.writer == nil,
            exchange.trace?.context.isSampled != true,
            let reply = repeated.reply(thumbnail, to: resolved, at: route, since: exchange.startedAt)
        {
            return reply
        }
        return .ready(success(thumbnail, resolved, exchange))
    }

    private func success(
        _ thumbnail: Thumbnail, _ resolved: ResolvedRequest, _ exchange: Exchange, hasReceipt: Bool = false
    ) -> Answer {
        var fields = repeated.lastingFields(thumbnail, resolved)
        if let age = thumbnail.freshness.age { fields.append(.age, String(age)) }
        var (eTag, body) = (thumbnail.eTag, HTTPResponse.Body.shared(thumbnail.image.bytes))
        if let written = resolved.request.form.writer?.answer(about: thumbnail) {
            if case .text(let text) = written.body { (eTag, body) = (Self.eTag(of: text), .text(text)) }
            fields = HTTPFields(
                fields.filter {
                    ![.contentType, .eTag, .contentDisposition, .imageWidth, .imageHeight].contains($0.name)
                })
            fields.append(.contentType, written.mediaType)
            fields.append(.eTag, eTag)
        }
        let response = Preconditions.answer(
            HTTPResponse(status: .ok, headerFields: fields, body: body), to: exchange.request?.headerFields ?? [:],
            eTag: eTag, lastModified: thumbnail.lastModified)
        return Answer(
            response: response, timings: thumbnail.timings, source: resolved.request.source.string,
            hasReceipt: hasReceipt)
    }

    private func success(
        _ facts: SourceFacts, _ resolved: ResolvedRequest, _ exchange: Exchange, _ wanted: FactsRequest
    ) -> Answer {
        let request = resolved.request
        let written = request.form.factsWriter?.answer(about: facts)
        let text = written?.text ?? FactsText.text(facts, of: request.source.string, requested: wanted)
        let eTag = Self.eTag(of: text)
        var fields = failures.common
        fields.append(.contentType, written?.mediaType ?? "application/json")
        fields.append(.eTag, eTag)
        if let date = facts.lastModified { fields.append(.lastModified, date.imfFixdate) }
        let secondsLeft = request.expires.map { $0 - timekeeper.secondsSince1970 }
        fields.append(.cacheControl, facts.freshness.cacheControl(secondsLeft: secondsLeft))
        fields.append(.cacheStatus, CacheStatusText.text(facts.cacheStatus))
        if let age = facts.freshness.age { fields.append(.age, String(age)) }
        if let cacheTagField, let tags = cacheTagField.value(resolved) { fields.append(cacheTagField.name, tags) }
        let response = Preconditions.answer(
            HTTPResponse(status: .ok, headerFields: fields, body: .text(text)),
            to: exchange.request?.headerFields ?? [:], eTag: eTag, lastModified: facts.lastModified)
        return Answer(response: response, timings: facts.timings, source: request.source.string)
    }

    private static func eTag(of text: String) -> String {
        let bytes = Array(text.utf8)
        return unsafe "\"\(Base64URL.encode(Array(SHA256.hash(bytes.span.bytes).bytes.prefix(16))))\""
    }

    /// Answers with a placeholder and the fields of a 200.
    ///
    /// `Cache-Status` contains only the first cache: the failure does not record which others were consulted.
    private func placeholder(
        _ image: EncodedImage, _ error: any ServiceError, _ resolved: ResolvedRequest
    ) -> Answer {
        let digest = image.bytes.withBytes { SHA256.hash($0) }
        let thumbnail = Thumbnail(
            RenderedImage(image, eTag: "\"\(digest.hexadecimal)\"", cacheStatus: [CacheLayerStatus(.result, .uriMiss)]),
            lastModified: nil, freshness: Freshness(storability: .none))
        var fields = repeated.lastingFields(thumbnail, resolved)
        fields.append(.alulaError, error.code)
        return Answer(
            response: HTTPResponse(status: .ok, headerFields: fields, body: .shared(image.bytes)),
            source: resolved.request.source.string, error: error)
    }

    /// Answers a failed request; if the target has an allowed fallback URL, redirects there.
    private func failure(_ error: any ServiceError, _ request: Request, _ exchange: Exchange) -> Answer {
        guard error.category != .overload, error.category != .cancelled,
            let location = request.form.fallback.flatMap(location(of:))
        else { return failures.answer(to: error, exchange, source: request.source.string) }
        // The body contains the problem as plain JSON, which explains the redirect.
        let problem = failures.problem(error, exchange).response
        var fields = HTTPFields(problem.headerFields.filter { $0.name != .contentType && $0.name != .retryAfter })
        fields.append(.contentType, "application/json")
        fields.append(.location, URLEscape.location(location.string))
        fields.append(.alulaError, error.code)
        return Answer(
            response: HTTPResponse(status: .found, headerFields: fields, body: problem.body),
            source: request.source.string, error: error)
    }

    /// Returns the value of `Location` for a fallback; nil if policy forbids it.
    private func location(of fallback: Fallback) -> ExactText? {
        guard thumbnails.mayFetch(fallback.url) else { return nil }
        switch fallback {
        case .configured(let url): return url
        case .named(let url, let target): return thumbnails.isAllowedByName(url) ? url : target
        }
    }
}
