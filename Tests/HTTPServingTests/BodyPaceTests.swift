import Testing

@testable import HTTPServing

struct BodyPaceTests {
    /// Time at which a body that sends `bytes` every `pause` is rejected; nil if it is not within a minute.
    private func lateness(
        of bytes: Int, each pause: Duration, lookingEach look: Duration = .milliseconds(500)
    ) -> Duration? {
        var pace = BodyPace()
        var now = Duration.zero
        while now < .seconds(60) {
            let parts = Int((now / pause).rounded(.down)) + 1
            if pace.isTooSlow(receivedBytes: 700 + parts * bytes, at: now) { return now }
            now += look
        }
        return nil
    }

    @Test(arguments: [(0, 1_000), (1, 100), (90, 100), (900, 1_000), (4_000, 5_000)])
    func `less than a kilobyte a second ends after a little more than five seconds`(bytes: Int, pause: Int) throws {
        let end = try #require(lateness(of: bytes, each: .milliseconds(pause)))
        #expect(end >= .seconds(5) && end <= .seconds(11))
        if bytes < 900 { #expect(end <= .milliseconds(5_600)) }
    }

    @Test(arguments: [(110, 100), (1_100, 1_000), (100_000, 500)])
    func `a little more than a kilobyte a second never ends`(bytes: Int, pause: Int) {
        #expect(lateness(of: bytes, each: .milliseconds(pause)) == nil)
        #expect(lateness(of: bytes, each: .milliseconds(pause), lookingEach: .milliseconds(10)) == nil)
    }

    @Test func `where the system does not report received bytes, no body is too slow`() {
        var pace = BodyPace()
        for second in 0..<30 {
            let isTooSlow = pace.isTooSlow(receivedBytes: -1, at: .seconds(second))
            #expect(!isTooSlow)
        }
    }
}
