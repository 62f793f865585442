import Coordination

@testable import Prefetching

/// Records the submitted jobs; the first one is "job1".
final class StubPrefetching: PrefetchScheduling {
    private let kept = Locked<[[String]]>([])
    private let called = Locked<[String?]>([])

    var begun: [[String]] { kept.withLock { $0 } }
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

    func jobs() async -> [(id: String, status: PrefetchStatus)] {
        guard let status = await status(of: "job1") else { return [] }
        return [("job1", status)]
    }

    func cancel(_ id: String) async -> Bool { id == "job1" }
}
