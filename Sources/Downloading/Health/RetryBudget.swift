/// Bounds retries to a tenth of the requests: each request saves a tenth of a retry, and at most ten retries are
/// saved up.
///
/// It begins full, so that a fresh process may retry too.
struct RetryBudget {
    private static let tenthsPerRetry = 10
    private static let maximumTenths = 100

    private var tenths = maximumTenths

    /// Counts a request.
    mutating func save() { tenths = min(tenths + 1, Self.maximumTenths) }

    /// Takes a retry out; false when there is none left.
    mutating func spend() -> Bool {
        guard tenths >= Self.tenthsPerRetry else { return false }
        tenths -= Self.tenthsPerRetry
        return true
    }
}
