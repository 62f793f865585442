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

/// Answers a thumbnail from the result cache on the calling event thread, any other one in a separate task.
final class ThumbnailResponder: Sendable {
    private let honorsClientCacheControl: Bool
    private let requestTimeout: Duration
    private let policy: ClientPolicy
    private let tagsAreSigned: Bool
    private let thumbnails: any ThumbnailServing
    private let failures: FailureWriter
    private let redirects: FallbackRedirects
    private let facts: FactsResponder
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
        tagsAreSigned = configuration.nativeDialect.signatures == .required
        self.thumbnails = thumbnails
        self.failures = failures
        redirects = FallbackRedirects(policy: thumbnails, failures: failures)
        facts = FactsResponder(
            thumbnails: thumbnails, common: failures.common, cacheTagField: configuration.cacheTagField,
            timekeeper: timekeeper)
        self.repeated = repeated
        self.timekeeper = timekeeper
    }

    /// Called on an event thread.
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
        let directives = honorsClientCacheControl ? request.headerFields[.cacheControl] : nil
        // The client whose tags are counted; nil if they are signed.
        let tagger = tagsAreSigned ? nil : ClientNetwork(of: exchange.client)
        if directives == nil, resolved.request.form.facts == nil,
            let thumbnail = thumbnails.cachedThumbnail(for: resolved)
        {
            thumbnails.recordTags(of: resolved, by: tagger)
            return hit(thumbnail, resolved, request, exchange, at: route)
        }
        let job = Job(
            resolved, directives: directives.map { RequestCacheControl($0) } ?? .none, by: tagger, receipt: exchange.id)
        return miss(job, hasDirectives: directives != nil, exchange, at: route)
    }

    private func miss(_ job: Job, hasDirectives: Bool, _ exchange: Exchange, at route: ImageRoute) -> Reply {
        if let wanted = job.request.form.facts {
            return .later(
                .task { [self] in
                    await answer(to: job, exchange) { try await self.facts.answer(wanted, for: job, exchange) }
                })
        }
        if let refusal = thumbnails.refusal(of: job.resolved) {
            return .ready(failures.answer(to: refusal, exchange, source: job.request.source.string))
        }
        if !hasDirectives, let lookup = thumbnails.pendingLookup(for: job.resolved) {
            return .later(.wait(wait(for: lookup, job, exchange, at: route)))
        }
        return image(for: job, exchange, at: route)
    }

    /// Other instances may have stored the result; a task continues if more work is needed.
    private func wait(
        for lookup: any PendingLookup, _ job: Job, _ exchange: Exchange, at route: ImageRoute
    ) -> Reply.Wait {
        Reply.Wait(begin: lookup.begin) { [self] in
            switch lookup.finish() {
            case .thumbnail(let thumbnail):
                thumbnails.recordTags(of: job.resolved, by: job.client)
                return .ready(success(thumbnail, job.resolved, exchange, hasReceipt: true))
            case .question: return .later(.wait(wait(for: lookup, job, exchange, at: route)))
            case .work(let lookup): return image(for: job.after(lookup), exchange, at: route)
            }
        } onAbandon: { [self] in
            redirects.answer(to: failures.lifecycle.abandonment, job.request, exchange)
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
    private func image(for job: Job, _ exchange: Exchange, at route: ImageRoute) -> Reply {
        .later(
            .task { [self] in
                await answer(to: job, exchange, fallbackAt: route) { [self] in try await image(for: job, exchange) }
            })
    }

    /// In the request's own task, which is canceled when the client disconnects.
    ///
    /// - Parameter route: Its fallback image replaces a failure; nil for none.
    private func answer(
        to job: Job, _ exchange: Exchange, fallbackAt route: ImageRoute? = nil,
        _ work: @escaping @Sendable () async throws -> Answer
    ) async -> Answer {
        var answer: Answer
        do {
            answer = try await withDeadline(exchange.startedAt + requestTimeout, by: timekeeper, work)
            try Task.checkCancellation()
        } catch {
            answer = redirects.answer(to: failures.lifecycle.failure(behind: error), job.request, exchange)
            if let route, !Task.isCancelled { answer = withFallbackImage(answer, exchange, at: route) }
        }
        answer.hasReceipt = true
        return answer
    }

    private func image(for job: Job, _ exchange: Exchange) async throws -> Answer {
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

    private func placeholder(_ placeholder: Placeholder) async throws -> EncodedImage? {
        do {
            return try await thumbnails.placeholder(placeholder)
        } catch is any ServiceError {
            return nil
        }
    }

    /// Not for an invalid request, a rejection or a fault of the service.
    private static func allowsPlaceholder(_ error: any ServiceError) -> Bool {
        switch error.status {
        case .unsupportedMediaType, .unprocessableContent, .badGateway: true
        default: error.isSourceMissing
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
            if case .text(let text) = written.body { (eTag, body) = (Preconditions.eTag(of: text), .text(text)) }
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
}
