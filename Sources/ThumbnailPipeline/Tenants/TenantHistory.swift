import Coordination
package import ThumbnailTypes

/// The use of some requests.
package struct TenantUse: Sendable {
    /// In the order of ``uses``; a dictionary in each of the 36 slices would take kilobytes.
    private var counts = InlineArray<6, Int>(repeating: 0)
    package internal(set) var refusals: [ErrorCode: Int] = [:]
    package internal(set) var processor = Duration.zero
    package internal(set) var originBytes = 0
    package internal(set) var sentBytes = 0

    private static let uses: [CacheUse?] = CacheUse.allCases + [nil]

    /// Requests by cache use; nil counts failures and responses that are not images.
    package var requests: [CacheUse?: Int] {
        Dictionary(uniqueKeysWithValues: zip(Self.uses, counts.indices.map { counts[$0] }).filter { $0.1 > 0 })
    }

    mutating func countRequest(_ cache: CacheUse?) {
        if let index = Self.uses.firstIndex(of: cache) { counts[index] += 1 }
    }

    mutating func add(_ other: TenantUse) {
        for index in counts.indices { counts[index] += other.counts[index] }
        refusals.merge(other.refusals, uniquingKeysWith: +)
        processor += other.processor
        originBytes += other.originBytes
        sentBytes += other.sentBytes
    }
}

/// Use since the start, and in windows of twelve slices, which take no memory until there is use.
package struct TenantHistory: Sendable {
    private struct Window: Sendable {
        static let sliceCount = 12

        let name: String
        /// In seconds.
        let slice: Int
        var slices: [(number: Int, use: TenantUse)] = []

        mutating func forget(before second: Int) {
            let number = second / slice
            slices.removeAll { $0.number <= number - Self.sliceCount }
        }

        mutating func record(at second: Int, _ change: (inout TenantUse) -> Void) {
            let number = second / slice
            if slices.last?.number != number {
                forget(before: second)
                slices.append((number, TenantUse()))
            }
            change(&slices[slices.count - 1].use)
        }

        var use: TenantUse { slices.reduce(into: TenantUse()) { $0.add($1.use) } }
    }

    package private(set) var total = TenantUse()
    private var recent = [
        Window(name: "1m", slice: 5), Window(name: "1h", slice: 300),
        Window(name: "24h", slice: 7_200),
    ]

    package var windows: [(name: String, use: TenantUse)] { recent.map { ($0.name, $0.use) } }

    mutating func record(at now: Duration, _ change: (inout TenantUse) -> Void) {
        change(&total)
        let second = Int(now.components.seconds)
        for index in recent.indices { recent[index].record(at: second, change) }
    }

    mutating func forget(before now: Duration) {
        let second = Int(now.components.seconds)
        for index in recent.indices { recent[index].forget(before: second) }
    }
}
