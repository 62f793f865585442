import Coordination
package import ThumbnailTypes

/// The usage of a set of requests.
package struct TenantUse: Sendable {
    /// The counts in the order of ``uses``.
    fileprivate var counts = InlineArray<6, Int>(repeating: 0)
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
        for (code, count) in other.refusals { refusals[code, default: 0] += count }
        processor += other.processor
        originBytes += other.originBytes
        sentBytes += other.sentBytes
    }
}

/// Usage since the start, and in windows of twelve slices; unused windows take no memory.
package struct TenantHistory: Sendable {
    /// The usage of at most two hours, in a compact form, because a tenant has 36 of these.
    private struct Slice: Sendable {
        let number: UInt32
        private var counts = InlineArray<6, UInt32>(repeating: 0)
        private var refusals: [(code: ErrorCode, count: UInt32)] = []
        private var processorNanoseconds: Int64 = 0
        private var originBytes = 0
        private var sentBytes = 0

        init(number: UInt32) { self.number = number }

        mutating func add(_ use: TenantUse) {
            for index in counts.indices { counts[index] += UInt32(use.counts[index]) }
            for (code, count) in use.refusals {
                let index = refusals.firstIndex { $0.code == code }
                if index == nil { refusals.append((code, 0)) }
                refusals[index ?? refusals.count - 1].count += UInt32(count)
            }
            processorNanoseconds += use.processor.nanoseconds
            originBytes += use.originBytes
            sentBytes += use.sentBytes
        }

        func add(to use: inout TenantUse) {
            for index in counts.indices { use.counts[index] += Int(counts[index]) }
            for (code, count) in refusals { use.refusals[code, default: 0] += Int(count) }
            use.processor += .nanoseconds(processorNanoseconds)
            use.originBytes += originBytes
            use.sentBytes += sentBytes
        }
    }

    private struct Window: Sendable {
        private static let sliceCount = 12

        let name: String
        let secondsPerSlice: Int
        private var slices: [Slice] = []

        init(_ name: String, secondsPerSlice: Int) {
            self.name = name
            self.secondsPerSlice = secondsPerSlice
        }

        var use: TenantUse { slices.reduce(into: TenantUse()) { use, slice in slice.add(to: &use) } }

        mutating func record(_ use: TenantUse, at now: Duration) {
            let number = number(at: now)
            if slices.last?.number != number {
                forget(before: now)
                // Reserve exactly: doubling would exceed the number of slices.
                let count = slices.count
                if count == slices.capacity { slices.reserveCapacity(min(Self.sliceCount, 2 * count)) }
                slices.append(Slice(number: number))
            }
            slices[slices.count - 1].add(use)
        }

        mutating func forget(before now: Duration) {
            let number = number(at: now)
            slices.removeAll { Int($0.number) <= Int(number) - Self.sliceCount }
        }

        private func number(at now: Duration) -> UInt32 { UInt32(Int(now.components.seconds) / secondsPerSlice) }
    }

    package private(set) var total = TenantUse()
    private var recent: InlineArray<3, Window> = [
        Window("1m", secondsPerSlice: 5), Window("1h", secondsPerSlice: 300), Window("24h", secondsPerSlice: 7_200),
    ]

    package var windows: [(name: String, use: TenantUse)] {
        recent.indices.map { (recent[$0].name, recent[$0].use) }
    }

    mutating func record(_ use: TenantUse, at now: Duration) {
        total.add(use)
        for index in recent.indices { recent[index].record(use, at: now) }
    }

    mutating func forget(before now: Duration) {
        for index in recent.indices { recent[index].forget(before: now) }
    }
}
