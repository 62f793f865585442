/// Results of the last ten seconds, counted per second.
struct FailureWindow {
    private static let seconds: Int64 = 10
    /// The number of failures, without a success, that make an origin suspect; from ``minimumSources`` sources.
    private static let minimumCount = 20
    private static let minimumSources = 5

    private struct Bucket {
        var second: Int64 = -1
        var successes = 0
        var failures = 0
        var sources: Set<Int> = []
    }

    private var buckets = [Bucket](repeating: Bucket(), count: Int(seconds))

    mutating func add(_ report: OriginReport, of source: SourceIdentity, at now: Duration) {
        switch report {
        case .inconclusive: return
        case .success, .response, .broken: addSuccess(at: now)
        case .serverError, .noResponse:
            let index = bucket(at: now)
            buckets[index].failures += 1
            if buckets[index].sources.count < Self.minimumSources { buckets[index].sources.insert(source.hashValue) }
        }
    }

    mutating func addSuccess(at now: Duration) { buckets[bucket(at: now)].successes += 1 }

    func hasOnlyFailures(at now: Duration) -> Bool {
        let oldest = now.components.seconds - Self.seconds
        let recent = buckets.filter { $0.second > oldest }
        guard recent.allSatisfy({ $0.successes == 0 }), recent.reduce(0, { $0 + $1.failures }) >= Self.minimumCount
        else {
            return false
        }
        return recent.reduce(into: Set<Int>()) { $0.formUnion($1.sources) }.count >= Self.minimumSources
    }

    private mutating func bucket(at now: Duration) -> Int {
        let second = now.components.seconds
        let index = Int(second % Self.seconds)
        if buckets[index].second != second { buckets[index] = Bucket(second: second) }
        return index
    }
}
