/// Limits retries: each request earns a tenth of a retry, up to ten retries.
///
/// The budget starts full.
struct RetryBudget {
    private static let tenthsPerRetry = 10
    private static let maximumTenths = 100

    private var tenths = maximumTenths

    mutating func deposit() { tenths = min(tenths + 1, Self.maximumTenths) }

    mutating func withdraw() -> Bool {
        guard tenths >= Self.tenthsPerRetry else { return false }
        tenths -= Self.tenthsPerRetry
        return true
    }
}
