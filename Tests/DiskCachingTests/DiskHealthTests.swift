import Testing

@testable import DiskCaching

struct DiskHealthTests {
    @Test
    func `each failure soon after the previous one doubles the wait, up to its limit, and a long success resets it`() {
        var health = DiskHealth(firstDelay: .seconds(60), maximumDelay: .seconds(200))
        #expect(health.isWorking && health.mayAttempt(at: .zero))
        health.fail(at: .zero)
        #expect(!health.isWorking && !health.mayAttempt(at: .seconds(59)) && health.mayAttempt(at: .seconds(60)))
        health.fail(at: .seconds(60))
        #expect(!health.mayAttempt(at: .seconds(179)) && health.mayAttempt(at: .seconds(180)))
        health.recover(at: .seconds(180))
        #expect(health.isWorking)
        health.fail(at: .seconds(190))
        #expect(!health.mayAttempt(at: .seconds(389)) && health.mayAttempt(at: .seconds(390)))
        health.recover(at: .seconds(390))
        health.fail(at: .seconds(1_000))
        #expect(health.mayAttempt(at: .seconds(1_060)))
    }
}
