import Testing

@testable import Commands

struct CapacityPlanTests {
    private let costs = CapacityPlan.Costs(processorTime: 0.01, resultBytes: 12_000, sourceBytes: 500_000)
    private let load = CapacityPlan.Load(requestsPerDay: 8_640_000, images: 100_000, renditions: 3, hitRatio: 0.9)

    @Test func `processors follow from misses and hits at the peak`() {
        let plan = CapacityPlan(load, costs: costs)
        #expect(plan.requests == 300 && abs(plan.misses - 30) < 1e-9)
        let work = 30 * (0.01 + CapacityPlan.fetch) + 270 * CapacityPlan.hit
        #expect(abs(plan.processors - work / 0.5) < 1e-9)
        #expect(abs(plan.fromOrigins - 15_000_000) < 1 && abs(plan.toClients - 3_600_000) < 1)
        #expect(plan.allResults == 3_600_000_000)
        #expect(plan.cachedResults < plan.allResults * 1.4 && plan.memory < plan.cachedResults)
    }

    @Test func `the largest load has a table`() {
        var largest = load
        (largest.requestsPerDay, largest.images, largest.peak, largest.utilization) = (1e16, 1e15, 1e15, 0.001)
        let text = PlanText.table(of: [CapacityPlan(largest, costs: costs)], costs: costs, load: largest, samples: 1)
        #expect(text.contains("1000000000000000000"))
    }

    @Test func `ten times the requests need ten times the processors, and the same storage`() {
        var larger = load
        larger.requestsPerDay *= 10
        let (one, ten) = (CapacityPlan(load, costs: costs), CapacityPlan(larger, costs: costs))
        #expect(abs(ten.processors - 10 * one.processors) < 1e-6 && ten.allResults == one.allResults)
        #expect(ten.cachedResults == one.cachedResults && ten.memory > one.memory)
    }

    @Test func `a higher hit ratio needs more results in the cache, at most all`() {
        let needed = [0.1, 0.5, 0.9, 0.99, 1].map { CapacityPlan.minimumCached(of: 100_000, for: $0) }
        #expect(needed == needed.sorted() && needed[0] > 1 && needed[4] <= 100_001)
        // A simulated LRU cache had a hit ratio of 0.575 with 8,000 of these images.
        #expect(abs(CapacityPlan.minimumCached(of: 100_000, for: 0.575) - 8_000) < 400)
    }
}
