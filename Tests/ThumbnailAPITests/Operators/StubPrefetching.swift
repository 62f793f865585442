import Coordination

@testable import ThumbnailPipeline

/// Notes the jobs it is given; the first is called "job1".
final class StubPrefetching: Prefetching {
    private let kept = Locked<[[String]]>([])
    private let called = Locked<[String?]>([])

    var jobs: [[String]] { kept.withLock { $0 } }
    var callbacks: [String?] { called.withLock { $0 } }

    func begin(_ items: [PrefetchItem], callback: String?) async throws -> PrefetchJob {
        called.withLock { $0.append(callback) }
        return kept.withLock {
            $0.append(items.map(\.target))
            return PrefetchJob(id: "job\($0.count)", survivesRestart: $0.count == 1)
        }
    }

    func status(of id: String) async -> PrefetchStatus? {
        let failure = PrefetchFailure(
            target: "/thumbnail?url=photos:a", source: "photos:a", code: "source_not_found", reason: "No such image.")
        return id == "job1" ? PrefetchStatus(total: 5, done: 2, failed: 1, failures: [failure]) : nil
    }
}
