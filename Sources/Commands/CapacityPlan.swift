import Glibc

/// The machines that a load needs, by the measured cost of its results.
struct CapacityPlan: Equatable {
    struct Load: Equatable {
        var requestsPerDay: Double
        var images: Double
        /// The number of renditions of each image.
        var renditions: Double
        /// The share of requests answered from a cache.
        var hitRatio: Double
        /// The ratio of the busiest minute's requests to the daily mean.
        var peak = 3.0
        /// CPU utilization at the peak.
        var utilization = 0.5
    }

    /// Mean costs of a result on a cache miss.
    struct Costs: Equatable {
        /// CPU time to decode, render and encode.
        var processorTime: Double
        var resultBytes: Double
        var sourceBytes: Double
    }

    let requests: Double
    let misses: Double
    let processors: Double
    /// The memory in addition to caches.
    let memory: Double
    /// The bytes of all results, on disk or in the result store.
    let allResults: Double
    /// The bytes of the most popular results that yield the hit ratio, with ``entryBytes`` each.
    let cachedResults: Double
    let fromOrigins: Double
    let toClients: Double

    /// Measured CPU times (docs/performance.md) of a hit, and of a miss without image work.
    static let hit = 1.0 / 17_000
    static let fetch = 0.0012
    /// The memory of the program with its libraries and workers, and of work per processor (docs/operating.md).
    static let programBytes = 110.0 * 0x10_0000
    static let bytesPerProcessor = 64.0 * 0x10_0000
    /// The memory of a cached result in addition to its bytes.
    static let entryBytes = 4_096.0
    /// The exponent with which the popularity of sources falls with their rank (docs/fleet.md).
    static let exponent = 0.9

    /// Plans for a load; rates are those at the peak.
    init(_ load: Load, costs: Costs) {
        requests = load.requestsPerDay / 86_400 * load.peak
        misses = requests * (1 - load.hitRatio)
        processors =
            (misses * (costs.processorTime + Self.fetch) + requests * load.hitRatio * Self.hit) / load.utilization
        let results = load.images * load.renditions
        allResults = results * costs.resultBytes
        let cached = Self.minimumCached(of: load.images, for: load.hitRatio) * load.renditions
        cachedResults = cached * (costs.resultBytes + Self.entryBytes)
        memory = Self.programBytes + max(1, processors.rounded(.up)) * Self.bytesPerProcessor
        fromOrigins = misses * costs.sourceBytes
        toClients = requests * costs.resultBytes
    }

    /// Returns how many images' results an LRU cache must hold for the hit ratio (Che's approximation).
    static func minimumCached(of images: Double, for hitRatio: Double) -> Double {
        // Group ranks into classes that grow by a tenth.
        var classes: [(popularity: Double, count: Double)] = []
        var first = 1.0
        var total = 0.0
        while first <= images {
            let next = min(max(first + 1, (first * 1.1).rounded(.down)), images + 1)
            let popularity = pow((first + next - 1) / 2, -exponent)
            classes.append((popularity, next - first))
            total += popularity * (next - first)
            first = next
        }
        func kept(for age: Double) -> (images: Double, hits: Double) {
            classes.reduce((0, 0)) { sum, group in
                let share = group.count * (1 - exp(-group.popularity / total * age))
                return (sum.0 + share, sum.1 + share * group.popularity / total)
            }
        }
        var ages = (low: 0.0, high: 1.0)
        while kept(for: ages.high).hits < hitRatio, ages.high < 1e18 { ages.high *= 2 }
        for _ in 0..<60 {
            let middle = (ages.low + ages.high) / 2
            if kept(for: middle).hits < hitRatio { ages.low = middle } else { ages.high = middle }
        }
        return kept(for: ages.high).images
    }
}
