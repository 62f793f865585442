import Coordination
import ThumbnailPipeline

/// Notes the jobs it is given; the first is called "job1".
final class StubPrefetching: Prefetching {
    private let kept = Locked<[[PrefetchItem]]>([])

    var jobs: [[PrefetchItem]] { kept.withLock { $0 } }

    func begin(_ items: [PrefetchItem]) async throws -> String {
        kept.withLock {
            $0.append(items)
            return "job\($0.count)"
        }
    }

    func status(of id: String) -> PrefetchStatus? {
        id == "job1" ? PrefetchStatus(total: 5, done: 2, failed: 1) : nil
    }
}
