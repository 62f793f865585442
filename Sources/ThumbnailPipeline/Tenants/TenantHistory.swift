import Coordination
package import ThumbnailTypes

/// The use of some requests.
package struct TenantUse: Sendable {
    /// By the help of caches; nil for failures, and for responses that are no image.
    package internal(set) var requests: [CacheUse?: Int] = [:]
    package internal(set) var refusals: [ErrorCode: Int] = [:]
    package internal(set) var processor = Duration.zero
    package internal(set) var originBytes = 0
    package internal(set) var sentBytes = 0

    mutating func add(_ other: TenantUse) {
        requests.merge(other.requests, uniquingKeysWith: +)
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
        let slice: Duration
        var slices: [(number: Int, use: TenantUse)] = []

        mutating func forget(before now: Duration) {
            let number = Int(now / slice)
            slices.removeAll { $0.number <= number - Self.sliceCount }
        }

        mutating func record(at now: Duration, _ change: (inout TenantUse) -> Void) {
            let number = Int(now / slice)
            if slices.last?.number != number {
                forget(before: now)
                slices.append((number, TenantUse()))
            }
            change(&slices[slices.count - 1].use)
        }

        var use: TenantUse { slices.reduce(into: TenantUse()) { $0.add($1.use) } }
    }

    package private(set) var total = TenantUse()
    private var recent = [
        Window(name: "1m", slice: .seconds(5)), Window(name: "1h", slice: .seconds(300)),
        Window(name: "24h", slice: .seconds(7_200)),
    ]

    package var windows: [(name: String, use: TenantUse)] { recent.map { ($0.name, $0.use) } }

    mutating func record(at now: Duration, _ change: (inout TenantUse) -> Void) {
        change(&total)
        for index in recent.indices { recent[index].record(at: now, change) }
    }

    mutating func forget(before now: Duration) {
        for index in recent.indices { recent[index].forget(before: now) }
    }
}
