import Coordination
import Downloading
import HTTPTypes
import Memory
import Recipes
import TestSupport
import Text
import ThumbnailTypes

@testable import Prefetching
@testable import ThumbnailPipeline

/// Renders nothing: records the requests, and fails or waits as scripted.
final class StubPipeline: ThumbnailLookup, ThumbnailRendering {
    struct Failure: Error {}

    func mayFetch(_ url: ExactText) -> Bool { true }
    func isAllowedByName(_ url: ExactText) -> Bool { false }
    func pendingLookup(for request: ResolvedRequest) -> (any PendingLookup)? { nil }
    func facts(_ asked: FactsRequest, for job: Job) async throws -> SourceFacts { throw Failure() }

    private struct State {
        var rendered: [String] = []
        var failing: Set<String> = []
        var rejections: [String: Int] = [:]
        var suspensions: [String: Int] = [:]
        var gate: Gate?
        var active = 0
        var maximumAtOnce = 0
        var onRender: @Sendable () -> Void = {}
    }

    private let state = Locked(State())
    /// Counts renders, including failed ones.
    let renders = EventCounter()

    var rendered: [String] { state.withLock { $0.rendered } }
    var maximumAtOnce: Int { state.withLock { $0.maximumAtOnce } }

    func fail(_ path: String) { state.withLock { _ = $0.failing.insert(path) } }
    func suspend(_ path: String, seconds: Int) { state.withLock { $0.suspensions[path] = seconds } }
    func reject(_ path: String, times: Int) { state.withLock { $0.rejections[path] = times } }
    func onRender(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onRender = body } }

    func hold() -> Gate {
        let gate = Gate()
        state.withLock { $0.gate = gate }
        return gate
    }

    func resolved(_ request: Request) -> ResolvedRequest {
        ResolvedRequest(request, sources: .failure(SourceURLError.malformed))
    }

    func cachedThumbnail(for request: ResolvedRequest) -> Thumbnail? { nil }

    func recordTags(of request: ResolvedRequest, by client: ClientNetwork?) {}

    var cacheVersion: Int { 0 }

    func countRepeatedHit() {}

    func rejection(for job: Job) -> (any ServiceError)? { nil }

    func thumbnail(for job: Job) async throws -> Thumbnail {
        let path = String(job.request.source.string.dropFirst("http://example.com".count))
        let gate = state.withLock { state in
            state.active += 1
            state.maximumAtOnce = max(state.maximumAtOnce, state.active)
            return state.gate
        }
        if let seconds = state.withLock({ $0.suspensions.removeValue(forKey: path) }) {
            state.withLock { $0.active -= 1 }
            throw DownloadError.originSuspended(seconds: seconds)
        }
        await withTaskCancellationHandler {
            await gate?.pass()
        } onCancel: {
            gate?.open()
        }
        let (isFailing, isRejected, onRender) = state.withLock { state in
            state.active -= 1
            state.rendered.append(path)
            state.rejections[path, default: 0] -= 1
            return (state.failing.contains(path), state.rejections[path, default: 0] >= 0, state.onRender)
        }
        onRender()
        renders.increment()
        if isFailing { throw DownloadError.notFound(404) }
        if isRejected { throw TooManyPrefetchJobs() }
        try Task.checkCancellation()
        let image = EncodedImage(bytes: SharedBytes([1]), format: .png, size: PixelSize(width: 1, height: 1))
        return Thumbnail(
            RenderedImage(image, eTag: "\"1\"", cacheStatus: []), lastModified: nil, freshness: Freshness())
    }

    func placeholder(_ placeholder: Placeholder, bill: RequestBill?) async throws -> EncodedImage {
        EncodedImage(bytes: SharedBytes([1]), format: .png, size: PixelSize(width: 1, height: 1))
    }
}

/// A loader for tests that fetch nothing.
struct NoLoader: DataLoading {
    func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferResult { throw DownloadError.notFound(404) }
}
