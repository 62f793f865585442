import Coordination
import HTTPTypes
import Recipes
import Text
import ThumbnailTypes

@testable import Downloading
@testable import ThumbnailPipeline

/// A scripted service for the admin listener.
final class StubControl: ServiceControlling {
    private let state = Locked(
        (removed: [String](), waiting: ["r1", "r2"], refreshed: [String](), cancelled: [String]()))

    var removed: [String] { state.withLock { $0.removed } }
    var refreshed: [String] { state.withLock { $0.refreshed } }
    var cancelled: [String] { state.withLock { $0.cancelled } }
    var waiting: [String] { state.withLock { $0.waiting } }

    let layers: [(name: String, state: LayerState)] = [("diskCache", .full), ("sharedCache", .suspended)]
    let origins = [
        OriginStatus(origin: "https://h:443", state: .suspended, cause: "no_response", retryAfterSeconds: 2.5),
        OriginStatus(origin: "https://i:443", state: .unknown, retryAfterSeconds: nil),
    ]
    let downloads = [
        FetchSnapshot(
            source: "http://h/a", host: "h:80", isRunning: true, receivedBytes: 3, expectedBytes: nil,
            age: .milliseconds(250), receipts: ["r1", "r2"]),
        FetchSnapshot(
            source: "http://h/b", host: "h:80", isRunning: false, receivedBytes: 0, expectedBytes: 7,
            age: .milliseconds(500), receipts: []),
    ]

    func removeAll() -> RemovedEntries {
        state.withLock { $0.removed.append("*") }
        return RemovedEntries(entries: 9, bytes: 90)
    }

    func remove(source: ExactText) throws -> RemovedEntries {
        if source == "refused" { throw StubError(status: .badRequest, code: .badURL) }
        state.withLock { $0.removed.append(source.string) }
        return RemovedEntries(entries: 1, bytes: 10)
    }

    func remove(tag: ExactText) -> RemovedEntries {
        state.withLock { $0.removed.append("#" + tag.string) }
        return RemovedEntries()
    }

    let work = [
        WorkUsage.Entry(origin: "shop:", step: .encode, format: .avif, time: .milliseconds(1_500)),
        WorkUsage.Entry(origin: "https://h:443", step: .decode, format: .png, time: .microseconds(2_400)),
    ]

    func waitingCount(of account: TenantAccount) -> Int? { nil }

    func setHeld(_ isHeld: Bool, origin: ExactText) throws -> OriginStatus {
        if origin == "refused" { throw StubError(status: .badRequest, code: .badURL) }
        return OriginStatus(origin: origin.string, state: isHeld ? .held : .reachable)
    }

    func cancel(receipt: String) -> Bool {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(of: receipt) else { return false }
            state.waiting.remove(at: index)
            return true
        }
    }

    func cancelDownloads(of source: ExactText) throws -> CanceledDownloads {
        if source == "refused" { throw StubError(status: .badRequest, code: .badURL) }
        state.withLock { $0.cancelled.append(source.string) }
        return CanceledDownloads(downloads: 1, callers: 3)
    }

    func refresh(source: ExactText, receipt: String) async throws -> SourceRefresh {
        if source == "refused" { throw StubError(status: .badRequest, code: .badURL) }
        state.withLock { $0.refreshed.append(source.string) }
        if source == "failing" {
            return SourceRefresh(result: .failed, failure: StubError(status: .badGateway, code: .originError))
        }
        return SourceRefresh(result: .changed)
    }

    func sourceName(of source: ExactText) throws -> ExactText {
        if source == "refused" { throw StubError(status: .badRequest, code: .badURL) }
        return source
    }

    var statistics: ServiceStatistics {
        let lane = ServiceStatistics.Lane(threads: 2, running: 1, waiting: 3, delay: .milliseconds(250))
        func cache(_ name: String, _ usage: CacheUsage) -> NamedCache {
            NamedCache(
                name: name, statistics: CacheStatistics(usage: usage, hits: 0, misses: 0, evictedBytes: 0))
        }
        let memory = MemoryBudget(limit: 100, allocated: { 40 }).statistics
        return ServiceStatistics(
            activeDownloads: 1, queuedDownloads: 2, maximumDownloads: 32, isActive: true, activeRenders: 3, decodes: 7,
            renders: 8,
            small: lane, expensive: lane, memory: memory,
            caches: [
                cache("decoded", CacheUsage(bytes: 1, capacity: 2, preferred: 3, entries: 4)),
                cache("result", CacheUsage(bytes: 5, capacity: 6, preferred: 7, entries: 8)),
            ])
    }
}
