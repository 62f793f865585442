import Coordination
import Downloading
import Recipes

/// Estimates the CPU time of decodes from headers, and corrects it for sources that recently took far more.
final class DecodeCosts: Sendable {
    private static let memory = Duration.seconds(600)

    private let timekeeper: any Timekeeper
    private let underestimated = Locked(BoundedMap<SourceIdentity, Bool>(maximumCount: 4_096, maximumWeight: 1 << 20))

    init(timekeeper: any Timekeeper) { self.timekeeper = timekeeper }

    func cost(of key: DecodeKey, from record: SourceRecord) -> Duration {
        let cost = key.timeCost(of: record.header, fileByteCount: record.byteCount)
        let isUnderestimated = underestimated.withLock { $0.peek(key.source, at: timekeeper.now) != nil }
        return isUnderestimated ? max(cost, TimeCost.expensive) : cost
    }

    func recordUnderestimate(of source: SourceIdentity) {
        let now = timekeeper.now
        _ = underestimated.withLock { $0.insert(true, for: source, weight: source.byteCount, until: now + Self.memory) }
    }
}
