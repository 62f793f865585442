import Coordination
import Downloading
import HTTPTypes
import Memory
import Recipes
import Telemetry
import TestSupport
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Scripted thumbnails without a pipeline; records the requests.
final class StubThumbnails: ThumbnailServing {
    private struct State {
        var cached: Thumbnail?
        var rejection: StubError?
        var requests: [Request] = []
        var cacheVersion = 0
        var repeatedHits = 0
        var receipts: [String] = []
        var directives: [RequestCacheControl] = []
        var placeholders: [Color] = []
        var opened: [String] = []
        var closings = 0
        var look: StubLookup?
        var afterLooks = 0
        var taggers: [ClientNetwork?] = []
    }

    private let state = Locked(State())
    private let make: @Sendable (Request) async throws -> Thumbnail
    private let makePlaceholder: @Sendable (Color) throws -> EncodedImage

    init(
        cached: Thumbnail? = nil, rejection: StubError? = nil,
        placeholder: @escaping @Sendable (Color) throws -> EncodedImage = { _ in .sample(.png) },
        make: @escaping @Sendable (Request) async throws -> Thumbnail = { _ in .sample() }
    ) {
        self.make = make
        makePlaceholder = placeholder
        state.withLock { state in
            state.cached = cached
            state.rejection = rejection
        }
    }

    /// The entry in the result cache.
    var cached: Thumbnail? {
        get { state.withLock { $0.cached } }
        set { state.withLock { $0.cached = newValue } }
    }
    var requests: [Request] { state.withLock { $0.requests } }
    var directives: [RequestCacheControl] { state.withLock { $0.directives } }
    var receipts: [String] { state.withLock { $0.receipts } }
    var placeholders: [Color] { state.withLock { $0.placeholders } }

    /// Clients whose tags were recorded with an existing thumbnail.
    var taggers: [ClientNetwork?] { state.withLock { $0.taggers } }

    func recordTags(of resolved: ResolvedRequest, by client: ClientNetwork?) {
        if !resolved.request.tags.isEmpty { state.withLock { $0.taggers.append(client) } }
    }

    func resolved(_ request: Request) -> ResolvedRequest {
        ResolvedRequest(
            request,
            sources: Result { PerSource(SourceIdentity(url: try SourceURL(parsing: request.source.string))) })
    }

    func cachedThumbnail(for recurring: ResolvedRequest) -> Thumbnail? {
        state.withLock { state in
            state.requests.append(recurring.request)
            return state.cached
        }
    }

    var cacheVersion: Int {
        get { state.withLock { $0.cacheVersion } }
        set { state.withLock { $0.cacheVersion = newValue } }
    }
    var repeatedHits: Int { state.withLock { $0.repeatedHits } }

    func countRepeatedHit() { state.withLock { $0.repeatedHits += 1 } }

    func rejection(for job: Job) -> (any ServiceError)? { state.withLock { $0.rejection } }

    func resolved(_ request: Request, of source: OpenedSource) -> ResolvedRequest {
        ResolvedRequest(request, sources: .failure(SourceURLError.malformed), of: source)
    }

    func thumbnail(for job: Job) async throws -> Thumbnail {
        state.withLock { state in
            if job.opened != nil { return state.requests.append(job.request) }
            if job.earlierLookup != nil { state.afterLooks += 1 }
            state.receipts.append(job.receipt)
            state.directives.append(job.directives)
        }
        return try await make(job.request)
    }

    /// The pending lookup of the next requests.
    var look: StubLookup? {
        get { state.withLock { $0.look } }
        set { state.withLock { $0.look = newValue } }
    }
    /// Number of requests that continued after a pending lookup.
    var afterLooks: Int { state.withLock { $0.afterLooks } }

    func pendingLookup(for recurring: ResolvedRequest) -> (any PendingLookup)? { look }

    func facts(_ requested: FactsRequest, for job: Job) async throws -> SourceFacts {
        if let opened = job.opened { return SourceFacts(header: opened.header, byteCount: 5) }
        state.withLock { $0.receipts.append(job.receipt) }
        let thumbnail = try await make(job.request)
        var facts = SourceFacts(
            header: ImageHeader(format: .jpeg, storedSize: PixelSize(width: 40, height: 30), orientation: 6),
            byteCount: 1_234)
        facts.eTag = "W/\"x\""
        facts.lastModified = thumbnail.lastModified
        facts.lastModifiedText = thumbnail.lastModified?.imfFixdate
        facts.freshness = thumbnail.freshness
        facts.cacheStatus = [CacheLayerStatus(.source, outcome: .hit)]
        return facts
    }

    func open(upload bytes: SharedBytes, of client: ClientNetwork?, bill: RequestBill?) throws -> OpenedSource {
        let source = try OpenedSource(upload: bytes, at: 0)
        state.withLock { $0.opened.append("\(bytes.count) bytes") }
        return source
    }
    func open(for job: Job) async throws -> OpenedSource {
        _ = try await make(job.request)
        state.withLock { $0.opened.append(job.request.source.string) }
        return try OpenedSource(upload: SharedBytes(ImageFixture.jpeg.array), at: 0)
    }
    var opened: [String] { state.withLock { $0.opened } }
    var closings: Int { state.withLock { $0.closings } }
    func close(_ source: OpenedSource) { state.withLock { $0.closings += 1 } }

    func mayFetch(_ url: ExactText) -> Bool { url.string.hasPrefix("https://") }

    func isAllowedByName(_ url: ExactText) -> Bool { url.string.hasPrefix("https://named.example/") }

    func placeholder(_ placeholder: Placeholder, bill: RequestBill?) async throws -> EncodedImage {
        state.withLock { $0.placeholders.append(placeholder.color) }
        return try makePlaceholder(placeholder.color)
    }
}

/// A pending lookup whose queries end at once with these outcomes.
final class StubLookup: PendingLookup {
    private let outcomes: Locked<[PendingLookupOutcome]>

    init(_ outcomes: PendingLookupOutcome...) {
        self.outcomes = Locked(outcomes)
    }

    /// Number of outcomes that are left.
    var rest: Int { outcomes.withLock { $0.count } }

    func begin(completion ready: @escaping @Sendable () -> Void) { ready() }

    func finish() -> PendingLookupOutcome {
        outcomes.withLock { $0.isEmpty ? .needsTask(EarlierLookup()) : $0.removeFirst() }
    }
}

extension EncodedImage {
    static func sample(_ format: ImageFormat = .jpeg, bytes: [UInt8] = Array("picture".utf8)) -> EncodedImage {
        EncodedImage(bytes: SharedBytes(bytes), format: format, size: PixelSize(width: 30, height: 20))
    }
}

extension Thumbnail {
    static func sample(
        _ format: ImageFormat = .jpeg, bytes: [UInt8] = Array("picture".utf8), lastModified: HTTPDate? = nil,
        freshness: Freshness = Freshness(),
        cacheStatus: [CacheLayerStatus] = [CacheLayerStatus(.result, outcome: .hit)], timings: [StepTiming] = [],
        slot: ResponseSlot? = nil, sourceHeader: ImageHeader? = nil
    ) -> Thumbnail {
        let result = RenderedImage(
            .sample(format, bytes: bytes), eTag: "\"abc\"", cacheStatus: cacheStatus, timings: timings, slot: slot)
        return Thumbnail(result, sourceHeader: sourceHeader, lastModified: lastModified, freshness: freshness)
    }
}

/// An error as the pipeline would throw it.
struct StubError: ServiceError, Equatable {
    var status = HTTPResponse.Status.badGateway
    var code = ErrorCode.originError
    var publicMessage = "The origin answered with an error."
    var category = ErrorCategory.origin
    var logDetail: String?
    var parameter: String?
    var upstreamStatus: Int?
    var retryAfter: Int?

    var response: ErrorResponse {
        ErrorResponse(
            status, code: code, category: category, message: publicMessage, detail: logDetail, parameter: parameter,
            upstreamStatus: upstreamStatus, retryAfter: retryAfter)
    }
}
