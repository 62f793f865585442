/// The first few sources of an origin that have worked, while they continue to work.
///
/// Later ones do not replace them: otherwise the most active client would determine the sources.
struct WorkingSources {
    private static let capacity = 3

    /// The sources in test order.
    private(set) var sources: [SourceIdentity] = []

    mutating func add(_ source: SourceIdentity) {
        guard sources.count < Self.capacity, !sources.contains(source) else { return }
        sources.append(source)
    }

    /// Drops sources without a conclusive result, and sources that fail while others work.
    mutating func update(from testResults: [OriginTestResult], about cause: OriginTest.Cause) {
        let isRefuted = testResults.contains { cause.isRefuted(by: $0.report) }
        for testResult in testResults {
            sources.removeAll { $0 == testResult.source }
            let keepsWorking =
                cause.isRefuted(by: testResult.report) || testResult.report != .inconclusive && !isRefuted
            if keepsWorking { sources.append(testResult.source) }
        }
    }
}
