import Testing

@testable import Coordination

struct DelayEstimateTests {
    @Test func `without measurements the estimate is zero, and no caller is rejected`() {
        let estimate = DelayEstimate()
        #expect(estimate.delay(of: .starting, behind: [500, 500], threads: 1) == .zero)
    }

    @Test func `earlier jobs delay a job, shared by the threads`() {
        var estimate = DelayEstimate()
        estimate.record(.milliseconds(30), of: .starting)
        #expect(estimate.delay(of: .starting, behind: [0, 0], threads: 2) == .zero)
        #expect(estimate.delay(of: .starting, behind: [0, 10], threads: 1) == .milliseconds(300))
        #expect(estimate.delay(of: .starting, behind: [0, 10], threads: 2) == .milliseconds(150))
    }

    @Test func `started work counts until it is finished`() {
        var estimate = DelayEstimate()
        estimate.record(.milliseconds(30), of: .starting)
        estimate.record(.milliseconds(10), of: .finishing)
        #expect(estimate.delay(of: .starting, behind: [0, 10], threads: 1) == .milliseconds(400))
        #expect(estimate.delay(of: .starting, behind: [10, 10], threads: 1) == .milliseconds(500))
        // Finishing work has priority and waits only for other finishing work.
        #expect(estimate.delay(of: .finishing, behind: [10, 10], threads: 1) == .milliseconds(100))
    }

    @Test func `it follows the durations of jobs over time`() {
        var estimate = DelayEstimate()
        for _ in 0..<200 { estimate.record(.milliseconds(10), of: .starting) }
        for _ in 0..<200 { estimate.record(.milliseconds(40), of: .starting) }
        let delay = estimate.delay(of: .starting, behind: [0, 100], threads: 1)
        #expect(delay > .seconds(3.9) && delay <= .seconds(4))
    }

    @Test func `a single very slow job hardly changes the estimate of the next`() {
        var estimate = DelayEstimate()
        for _ in 0..<20 { estimate.record(.milliseconds(10), of: .starting) }
        estimate.record(.seconds(8), of: .starting)
        #expect(estimate.delay(of: .starting, behind: [0, 1], threads: 1) < .milliseconds(13))
    }
}
