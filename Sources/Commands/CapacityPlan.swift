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
        /// The busiest minute, in means of the day.
        var peak = 3.0
        /// The share of the processors that is used at the peak.
        var utilization = 0.5
    }

    /// Means over the results of cache misses.
    struct Costs: Equatable {
        /// The processor time to decode, render and encode.
        var processorTime: Double
        var resultBytes: Double
        var sourceBytes: Double
    }

    let requests: Double
    let misses: Double
    let processors: Double
    /// The memory besides caches.
    let memory: Double
    /// The bytes of all results, on disk or in the result store.
    let allResults: Double
    /// The most popular results, enough for the hit ratio, with ``entryBytes`` each.
    let cachedResults: Double
    let fromOrigins: Double
    let toClients: Double

    /// The processor time to answer a hit, measured (docs/performance.md), and around the image work of a miss:
    /// connections, the fetch, cache writes, worker processes.
    static let (hit, fetch) = (1.0 / 17_000, 0.0012)
    /// The program, its libraries and worker processes, and for each processor work in progress (docs/operating.md).
    static let (programBytes, bytesPerProcessor) = (110.0 * 0x10_0000, 64.0 * 0x10_0000)
    /// The memory for a cached result besides its bytes.
    static let entryBytes = 4_096.0
    /// The popularity of sources falls with their rank to this power (docs/fleet.md).
    static let exponent = 0.9

    /// Rates are those at the peak.
    init(_ load: Load, _ costs: Costs) {
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

    /// The number of images whose results an LRU cache needs for the hit ratio (Che's approximation).
    static func minimumCached(of images: Double, for hitRatio: Double) -> Double {
        // Ranks in classes that grow by a tenth.
        var classes: [(popularity: Double, count: Double)] = []
        var (first, total) = (1.0, 0.0)
        while first <= images {
            let next = min(max(first + 1, (first * 1.1).rounded(.down)), images + 1)
            let popularity = pow((first + next - 1) / 2, -exponent)
            classes.append((popularity, next - first))
            total += popularity * (next - first)
            first = next
        }
        func kept(for age: Double) -> (images: Double, hits: Double) {
            classes.reduce((0, 0)) { sum, part in
                let share = part.count * (1 - exp(-part.popularity / total * age))
                return (sum.0 + share, sum.1 + share * part.popularity / total)
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
