import Testing

@testable import Coordination

/// Rates and quotas as values; the time is passed in.
struct QuotaTests {
    @Test func `a second's tokens can be taken at once, and come back at the rate`() {
        var bucket = TokenBucket(Quota(3, per: .seconds(1)), at: .seconds(100))
        for _ in 0..<3 { #expect(bucket.take(at: .seconds(100)) == nil) }
        let wait = bucket.take(at: .seconds(100))
        #expect(wait.map { abs($0.seconds - 1 / 3) < 0.001 } == true)
        #expect(bucket.take(at: .milliseconds(100_334)) == nil)
        #expect(bucket.take(at: .milliseconds(100_334)) != nil)
        for _ in 0..<3 { #expect(bucket.take(at: .seconds(200)) == nil) }
        #expect(bucket.take(at: .seconds(200)) != nil, "no more than a second's tokens are kept")
    }

    @Test func `a slow rate lets one through at a time`() {
        var bucket = TokenBucket(Quota(6, per: .seconds(60)), at: .zero)
        #expect(bucket.take(at: .zero) == nil)
        #expect(bucket.take(at: .seconds(9)).map { abs($0.seconds - 1) < 0.001 } == true)
        #expect(bucket.take(at: .seconds(10)) == nil)
    }

    @Test func `a clock that stops or goes back gives no tokens`() {
        var bucket = TokenBucket(Quota(1, per: .seconds(1)), at: .seconds(10))
        #expect(bucket.take(at: .seconds(10)) == nil)
        #expect(bucket.take(at: .seconds(9)) != nil)
        #expect(bucket.take(at: .seconds(10)) != nil)
    }

    @Test func `use leaves the window after its time`() {
        var window = SlidingWindow(Quota(100, per: .seconds(60)))
        window.add(60, at: .seconds(2))
        #expect(window.wait(at: .seconds(2)) == nil)
        window.add(60, at: .seconds(31))
        #expect(window.wait(at: .seconds(31)) == .seconds(29))
        #expect(window.wait(at: .milliseconds(59_999)) != nil)
        #expect(window.wait(at: .seconds(60)) == nil)
        window.add(1, at: .seconds(1_000))
        #expect(window.wait(at: .seconds(1_000)) == nil)
    }

    @Test func `more than the quota at once is waited for in full`() {
        var window = SlidingWindow(Quota(10, per: .seconds(12)))
        window.add(1_000, at: .zero)
        #expect(window.wait(at: .seconds(11)) == .seconds(1))
        #expect(window.wait(at: .seconds(12)) == nil)
    }
}
