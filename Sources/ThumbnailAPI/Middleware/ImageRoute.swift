import Coordination
import Dialects
import HTTPTypes
import Telemetry
import Text
import ThumbnailTypes

/// A dialect's route; a class, because each exchange and each cached target holds one.
final class ImageRoute: Sendable {
    let dialect: any Dialect
    let isOpen: Bool
    private let keyIDs: [ExactText]
    /// Counts hits with GET and status 200; looked up once, because these responses are the most frequent.
    private let hits: Counter
    private let hitTimes: Histogram

    /// - Parameter keyIDs: The names of the dialect's keys; if empty, keys are numbered.
    init(_ dialect: any Dialect, isOpen: Bool, keyIDs: [ExactText] = [], metrics: APIMetrics) {
        self.dialect = dialect
        self.isOpen = isOpen
        self.keyIDs = keyIDs
        hits = metrics.requests.counter(dialect.name, "200")
        hitTimes = metrics.times(of: dialect.name, cache: .hit, method: .get, status: 200)
        for cache in CacheUse.allCases { _ = metrics.times(of: dialect.name, cache: cache, method: .get, status: 200) }
    }

    /// Returns the ID of the key that signs an authentic target.
    func keyID(of target: RequestedTarget) -> String? {
        dialect.keyID(of: target).map { id in
            Int(id).flatMap { keyIDs.indices.contains($0 - 1) ? keyIDs[$0 - 1].string : nil } ?? id
        }
    }

    func record(_ hit: RepeatedHit, traceID: String?) {
        recordHit(seconds: (hit.endedAt - hit.startedAt).seconds, traceID: traceID)
    }

    func recordHit(seconds: Double, traceID: String?) {
        hits.increment()
        hitTimes.observe(seconds, traceID: traceID)
    }
}
