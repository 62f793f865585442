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

/// Answers cache hits on the event thread, and all other requests in a task.
final class ThumbnailResponder: Sendable {
    private let honorsClientCacheControl: Bool
    private let requestTimeout: Duration
    private let policy: ClientPolicy
    private let tagsAreSigned: Bool
    private let tenant: (name: ExactText, index: Int)
    private let thumbnails: any ThumbnailServing
    private let failures: FailureWriter
    private let redirects: FallbackRedirects
    private let repeated: RepeatedResponses
    private let targets: ParsedTargets
    private let costs: CostAccounting
    private let timekeeper: any Timekeeper

    init(
        _ configuration: APIConfiguration, thumbnails: any ThumbnailServing, failures: FailureWriter,
        repeated: RepeatedResponses, targets: ParsedTargets, tenant: Int, costs: CostAccounting,
        timekeeper: any Timekeeper
    ) {
        self.targets = targets
        self.costs = costs
        honorsClientCacheControl = configuration.honorsClientCacheControl
        requestTimeout = configuration.requestTimeout
        policy = configuration.clientPolicy
        self.tenant = (configuration.tenant, tenant)
        tagsAreSigned = configuration.nativeDialect.signatures == .required
        self.thumbnails = thumbnails
        self.failures = failures
        redirects = FallbackRedirects(policy: thumbnails, failures: failures)
        self.repeated = repeated
        self.timekeeper = timekeeper
    }

    /// Responds to an image request; called on an event thread.
    ///
    /// Checks the signature, then the grammar, then the expiry; rejects a miss if too many requests wait.
    func respond(to request: HTTPRequest, in context: RequestContext, at route: ImageRoute) -> PendingResponse<Outcome>
    {
        let resolved: ResolvedRequest
        do {
            resolved = try resolvedRequest(for: request, at: route).forwarding(request.headerFields)
            try costs.admit()
            if let expires = resolved.request.expires, expires <= timekeeper.secondsSince1970 { throw APIError.expired }
            if failures.lifecycle.isDraining { throw APIError.draining }
        } catch {
            return .ready(withFallbackImage(failures.outcome(of: error, in: context), in: context, at: route))
        }
        let directives = honorsClientCacheControl ? request.headerFields[.cacheControl] : nil
        let client = ClientNetwork(of: context.client)
        // The client whose tags are counted; nil if the request is signed.
        let tagClient = tagsAreSigned ? nil : client
        func job() -> Job {
            Job(
                resolved, directives: directives.map { RequestCacheControl($0) } ?? .none, of: client,
                tagClient: tagClient, receipt: context.receipt, bill: costs.newBill)
        }
        if let request = resolved.request.form.facts { return facts(request, for: job(), in: context) }
        if directives == nil, let thumbnail = thumbnails.cachedThumbnail(for: resolved) {
            thumbnails.recordTags(of: resolved, by: tagClient)
            return hit(thumbnail, of: resolved, request: request, in: context, at: route)
        }
        return miss(job(), hasDirectives: directives != nil, in: context, at: route)
    }

    private func facts(_ request: FactsRequest, for job: Job, in context: RequestContext) -> PendingResponse<Outcome> {
        .deferred { [self] in
            await outcome(of: job, in: context) { [self] in
                try await factsOutcome(request, for: job, in: context)
            }
        }
    }

    private func miss(
        _ job: Job, hasDirectives: Bool, in context: RequestContext, at route: ImageRoute
    ) -> PendingResponse<Outcome> {
        if let rejection = thumbnails.rejection(for: job) {
            return .ready(failures.outcome(of: rejection, in: context, label: job.resolved.label))
        }
        if !hasDirectives, let lookup = thumbnails.pendingLookup(for: job.resolved) {
            return .waiting(wait(for: lookup, of: job, in: context, at: route))
        }
        return render(job, in: context, at: route)
    }

    /// Looks in the shared cache, where other instances may have stored the result; on a miss, continues in a task.
    private func wait(
        for lookup: any PendingLookup, of job: Job, in context: RequestContext, at route: ImageRoute
    ) -> ShortWait<Outcome> {
        ShortWait(begin: lookup.begin) { [self] in
            switch lookup.finish() {
            case .thumbnail(let thumbnail):
                thumbnails.recordTags(of: job.resolved, by: job.tagClient)
                return .ready(success(thumbnail, of: job.resolved, in: context, hasReceipt: true))
            case .queryAgain: return .waiting(wait(for: lookup, of: job, in: context, at: route))
            case .needsTask(let lookup): return render(job.after(lookup), in: context, at: route)
            }
        } abandon: { [self] in
            redirects.outcome(of: failures.lifecycle.abandonment, for: job.resolved, in: context)
        }
    }

    private func resolvedRequest(for request: HTTPRequest, at route: ImageRoute) throws(APIError) -> ResolvedRequest {
        try targets.resolvedRequest(for: request, of: tenant.index) { target throws(APIError) in
            // Verifies the signature only once, because `isAuthentic` would verify it again.
            let keyID = route.keyID(of: target)
            guard route.isOpen, keyID != nil || route.dialect.isAuthentic(target) else { throw .badSignature }
            let new = try policy.request(in: target, of: route.dialect)
            return thumbnails.resolved(new).labeled(
                RequestLabel(
                    target: route.dialect.loggedTarget(target), source: new.source.string, tenant: tenant.name,
                    keyID: keyID))
        }
    }

    private func withFallbackImage(_ outcome: Outcome, in context: RequestContext, at route: ImageRoute) -> Outcome {
        var outcome = outcome
        outcome.fallbackImage = context.request.flatMap { route.dialect.fallbackImage(for: RequestedTarget($0)) }
        return outcome
    }
}

extension ThumbnailResponder {
    private func render(_ job: Job, in context: RequestContext, at route: ImageRoute) -> PendingResponse<Outcome> {
        .deferred { [self] in
            await outcome(of: job, in: context, fallbackAt: route) { [self] in try await image(for: job, in: context) }
        }
    }

    /// Returns the outcome of `work` in the request's task, which is canceled when the client disconnects.
    ///
    /// - Parameter route: The route whose fallback image replaces a failure; nil if none does.
    private func outcome(
        of job: Job, in context: RequestContext, fallbackAt route: ImageRoute? = nil,
        _ work: @escaping @Sendable () async throws -> Outcome
    ) async -> Outcome {
        var outcome: Outcome
        do {
            outcome = try await withDeadline(context.startedAt + requestTimeout, by: timekeeper, work)
            try Task.checkCancellation()
        } catch {
            outcome = redirects.outcome(of: failures.lifecycle.failure(behind: error), for: job.resolved, in: context)
            if let route, !Task.isCancelled { outcome = withFallbackImage(outcome, in: context, at: route) }
        }
        outcome.hasReceipt = true
        outcome.bill = job.bill
        return outcome
    }

    private func image(for job: Job, in context: RequestContext) async throws -> Outcome {
        do {
            return success(try await thumbnails.thumbnail(for: job), of: job.resolved, in: context)
        } catch let error as any ServiceError {
            guard let placeholder = job.request.placeholder, Self.allowsPlaceholder(error),
                // If the placeholder fails, report the error of the source.
                let image = try await encoded(placeholder, bill: job.bill)
            else { throw error }
            return placeholderOutcome(image, for: error, of: job.resolved)
        }
    }

    private func factsOutcome(
        _ request: FactsRequest, for job: Job, in context: RequestContext
    ) async throws -> Outcome {
        let facts = try await thumbnails.facts(request, for: job)
        let written = job.request.form.factsWriter?.response(about: facts)
        let text = written?.text ?? FactsText.text(facts, of: job.request.source.string, requested: request)
        let eTag = Preconditions.eTag(of: text)
        let fields = repeated.fields.facts(
            facts, to: job.resolved, mediaType: written?.mediaType ?? "application/json", eTag: eTag,
            secondsLeft: job.request.expires.map { $0 - timekeeper.secondsSince1970 })
        let response = Preconditions.response(
            HTTPResponse(status: .ok, headerFields: fields, body: .text(text)),
            to: context.request?.headerFields ?? [:], eTag: eTag, lastModified: facts.lastModified)
        return Outcome(
            response: response, timings: facts.timings, label: job.resolved.label, cache: CacheUse(facts.cacheStatus))
    }

    private func encoded(_ placeholder: Placeholder, bill: RequestBill?) async throws -> EncodedImage? {
        do {
            return try await thumbnails.placeholder(placeholder, bill: bill)
        } catch is any ServiceError {
            return nil
        }
    }

    /// Whether the source is at fault, rather than the request or the service.
    private static func allowsPlaceholder(_ error: any ServiceError) -> Bool {
        switch error.status {
        case .unsupportedMediaType, .unprocessableContent, .badGateway: true
        default: error.isSourceMissing
        }
    }

    private func hit(
        _ thumbnail: Thumbnail, of resolved: ResolvedRequest, request: HTTPRequest, in context: RequestContext,
        at route: ImageRoute
    ) -> PendingResponse<Outcome> {
        // Sampled traces and proxies' request IDs make each response different.
        if !Preconditions.areStated(in: request.headerFields), resolved.request.form.writer == nil,
            resolved.forwardedNames.isEmpty, context.trace?.context.isSampled != true, !context.hasProxyID,
            let response = repeated.recurring(thumbnail, to: resolved, at: route, since: context.startedAt)
        {
            return response
        }
        return .ready(success(thumbnail, of: resolved, in: context))
    }

    private func success(
        _ thumbnail: Thumbnail, of resolved: ResolvedRequest, in context: RequestContext, hasReceipt: Bool = false
    ) -> Outcome {
        let written = resolved.request.form.writer?.response(about: thumbnail)
        let eTag = written?.text.map(Preconditions.eTag(of:)) ?? thumbnail.eTag
        var fields = repeated.lastingFields(of: thumbnail, for: resolved, written: written)
        if let age = thumbnail.freshness.age { fields.append(.age, String(age)) }
        if let written {
            fields.append(.contentType, written.mediaType)
            fields.append(.eTag, eTag)
        }
        let body = written?.text.map(HTTPResponse.Body.text) ?? .shared(thumbnail.image.bytes)
        let response = Preconditions.response(
            HTTPResponse(status: .ok, headerFields: fields, body: body), to: context.request?.headerFields ?? [:],
            eTag: eTag, lastModified: thumbnail.lastModified)
        return Outcome(
            response: response, timings: thumbnail.timings, label: resolved.label, image: thumbnail.image,
            cache: CacheUse(thumbnail.cacheStatus), hasReceipt: hasReceipt)
    }

    /// Returns the placeholder; `Cache-Status` names only the result cache, because errors do not record the others.
    private func placeholderOutcome(
        _ image: EncodedImage, for error: any ServiceError, of resolved: ResolvedRequest
    ) -> Outcome {
        let digest = image.bytes.withBytes { SHA256.hash($0) }
        let thumbnail = Thumbnail(
            RenderedImage(
                image, eTag: "\"\(digest.hexadecimal)\"", cacheStatus: [CacheLayerStatus(.result, outcome: .uriMiss)]),
            lastModified: nil, freshness: Freshness(storability: .none))
        var fields = repeated.lastingFields(of: thumbnail, for: resolved, written: nil)
        fields.append(.alulaError, error.code)
        return Outcome(
            response: HTTPResponse(status: .ok, headerFields: fields, body: .shared(image.bytes)),
            label: resolved.label, image: image, error: error)
    }
}
