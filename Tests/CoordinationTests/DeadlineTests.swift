import Coordination
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DeadlineTests {
    @Test func `work that ends in time returns its value`() async throws {
        let time = ManualTimekeeper()
        let value = try await withDeadline(.seconds(1), by: time) { 5 }
        #expect(value == 5)
        #expect(time.sleeperCount == 0)
    }

    @Test func `late work is canceled`() async {
        let time = ManualTimekeeper()
        let work = Task {
            try await withDeadline(.seconds(1), by: time) { try await time.sleep(until: .seconds(100)) }
        }
        await time.sleepers(2)
        time.advance(by: .seconds(1))
        await #expect(throws: DeadlineExceeded.self) { try await work.value }
        #expect(time.sleeperCount == 0)
    }
}
