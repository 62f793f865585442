/// The health of a bounded number of recently used origins.
///
/// Clients can name any number of origins, so origins that have never responded have a separate, smaller limit, and
/// origins without results are not stored.
struct OriginHealthTable {
    private struct Entry {
        var health = OriginHealth()
        var lastUse: UInt64 = 0
    }

    private let capacity: Int
    private let unprovenCapacity: Int
    private var entries: [OriginKey: Entry] = [:]
    private var uses: UInt64 = 0

    private var suspensions = 0
    private var changes: [OriginSnapshot] = []

    init(capacity: Int = 4_096, unprovenCapacity: Int = 256) {
        self.capacity = capacity
        self.unprovenCapacity = unprovenCapacity
    }

    mutating func admit(_ origin: OriginKey, progress: TransferProgress, at now: Duration) -> OriginHealth.Admission {
        change(origin, at: now) { $0.admit(progress, at: now) }
    }

    /// Returns the test to run before an admitted transfer; nil if there is none.
    mutating func test(before originRequest: OriginRequest, at now: Duration) -> OriginTest? {
        change(originRequest.origin, at: now) { $0.test(before: originRequest.permit, of: originRequest.source) }
    }

    mutating func end(_ originRequest: OriginRequest, report: OriginReport, at now: Duration) -> OriginTest? {
        let consequence = change(originRequest.origin, at: now) {
            $0.end(originRequest.permit, report: report, of: originRequest.source, at: now)
        }
        count(consequence)
        guard case .suspected(let test) = consequence else { return nil }
        return test
    }

    mutating func conclude(
        _ test: OriginTest, of origin: OriginKey, results testResults: [OriginTestResult], at now: Duration
    ) {
        count(change(origin, at: now) { $0.conclude(test, results: testResults, at: now) })
    }

    private mutating func count(_ consequence: OriginHealth.Consequence) {
        if consequence == .suspended { suspensions += 1 }
    }

    func summary(at now: Duration, held: Set<OriginKey> = []) -> OriginHealthSummary {
        var origins = entries.map { key, entry in OriginSnapshot(key, health: entry.health, at: now) }
        for origin in held where entries[origin] == nil {
            origins.append(OriginSnapshot(origin, health: OriginHealth(), at: now))
        }
        for index in origins.indices { origins[index].isHeld = held.contains(origins[index].origin) }
        return OriginHealthSummary(
            origins: origins.sorted { $0.origin.description < $1.origin.description }, suspensions: suspensions)
    }

    /// Returns the origins whose state has changed since the last call, in order.
    mutating func takeChanges() -> [OriginSnapshot] {
        defer { changes = [] }
        return changes
    }

    private mutating func change<Result>(
        _ origin: OriginKey, at now: Duration, _ body: (inout OriginHealth) -> Result
    ) -> Result {
        if entries[origin] == nil { evictIfFull() }
        uses += 1
        // Remove the entry, so that it is changed without a copy.
        var entry = entries.removeValue(forKey: origin) ?? Entry()
        entry.lastUse = uses
        let wasReachable = entry.health.isReachable
        let wasSuspended = entry.health.isSuspended
        let result = body(&entry.health)
        if entry.health.isReachable != wasReachable || entry.health.isSuspended != wasSuspended {
            changes.append(OriginSnapshot(origin, health: entry.health, at: now))
        }
        if !entry.health.isUnknown { entries[origin] = entry }
        return result
    }

    /// Removes the least recently used origin; prefers origins that have never worked, and avoids suspended ones.
    private mutating func evictIfFull() {
        let isCrowded = entries.count { !$0.value.health.hasWorked } >= unprovenCapacity
        guard isCrowded || entries.count >= capacity else { return }
        func rank(_ health: OriginHealth) -> Int { (health.hasWorked ? 2 : 0) + (health.isSuspended ? 1 : 0) }
        let oldest = entries.min { left, right in
            (rank(left.value.health), left.value.lastUse) < (rank(right.value.health), right.value.lastUse)
        }
        if let oldest { entries[oldest.key] = nil }
    }
}

extension OriginSnapshot {
    fileprivate init(_ origin: OriginKey, health: OriginHealth, at now: Duration) {
        self.init(
            origin: origin, isReachable: health.isReachable, isSuspended: health.isSuspended,
            cause: health.suspensionCause?.rawValue, retryAfter: health.rejection(at: now), isProven: health.hasWorked)
    }
}
