import Coordination
import TestSupport
import Testing

@testable import ThumbnailPipeline

@Suite(.timeLimit(.minutes(1)))
struct RemovalsInProgressTests {
    @Test func `removals run at the same time, and all of them end before a position counts`() async {
        let removals = RemovalsInProgress()
        #expect(removals.all == nil)
        let (gates, order) = ([Gate(), Gate()], Locked<[String]>([]))
        for gate in gates {
            removals.begin {
                await gate.pass()
                order.withLock { $0.append("removal") }
            }
        }
        let all = removals.all
        let position = Task {
            await all?.value
            order.withLock { $0.append("position") }
        }
        for gate in gates { await gate.arrivals(1) }
        for gate in gates.reversed() { gate.open() }
        await position.value
        #expect(order.withLock { $0 } == ["removal", "removal", "position"])
    }
}
