@testable import Prefetching

extension Prefetcher {
    func begin(_ targets: [String], callback: String? = nil) async throws -> PrefetchJob {
        try await begin(targets.map { PrefetchItem($0) }, callback: callback)
    }
}
