/// The ends of transfers within the last ten seconds, counted by whole seconds.
struct FailureWindow {
    private static let seconds: Int64 = 10

    private struct Bucket {
        var second: Int64 = -1
        var total = 0
        var failures = 0
    }

    private var buckets = [Bucket](repeating: Bucket(), count: Int(seconds))

    /// Counts one end.
    mutating func add(isFailure: Bool, at now: Duration) {
        let second = now.components.seconds
        let index = Int(second % Self.seconds)
        if buckets[index].second != second { buckets[index] = Bucket(second: second) }
        buckets[index].total += 1
        if isFailure { buckets[index].failures += 1 }
    }

    /// All ends and the failures among them that are not older than the window.
    func counts(at now: Duration) -> (total: Int, failures: Int) {
        let oldest = now.components.seconds - Self.seconds
        return buckets.reduce(into: (0, 0)) { counts, bucket in
            guard bucket.second > oldest else { return }
            counts.0 += bucket.total
            counts.1 += bucket.failures
        }
    }
}
