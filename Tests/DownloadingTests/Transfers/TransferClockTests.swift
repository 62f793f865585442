import Testing

@testable import Downloading

struct TransferClockTests {
    private let configuration = DownloadConfiguration()

    @Test func `connecting has three seconds`() {
        var clock = TransferClock(configuration, now: .seconds(100))
        #expect(clock.nextCheck == .seconds(103))
        expect(false, at: .milliseconds(102_999), by: &clock)
        #expect(clock.connectTimeLeft(at: .seconds(101)) == .seconds(2))
        expect(true, at: .seconds(103), by: &clock)
    }

    @Test func `the first byte has five seconds from the request, regardless of the connect time`() {
        var clock = TransferClock(configuration, now: .zero)
        clock.recordConnection(at: .seconds(2))
        expect(false, at: .milliseconds(6_999), by: &clock)
        expect(true, at: .seconds(7), by: &clock)
    }

    @Test func `less than 16 KiB in three seconds is too slow`() {
        var clock = TransferClock(configuration, now: .zero)
        clock.recordConnection(at: .zero)
        clock.recordResponse(at: .seconds(1))
        clock.received(16 << 10)
        expect(false, at: .seconds(4), by: &clock)
        clock.received((16 << 10) - 1)
        expect(false, at: .milliseconds(6_999), by: &clock)
        expect(true, at: .seconds(7), by: &clock)
    }

    @Test func `the whole transfer has ten seconds, redirects included`() {
        var clock = TransferClock(configuration, now: .zero)
        for second in 1...9 {
            clock.beginHop(at: .seconds(second))
            clock.recordConnection(at: .seconds(second))
            clock.recordResponse(at: .seconds(second))
            clock.received(1 << 20)
            expect(false, at: .seconds(second), by: &clock)
        }
        #expect(clock.nextCheck == .seconds(10))
        expect(true, at: .seconds(10), by: &clock)
    }

    private func expect(
        _ isExpired: Bool, at time: Duration, by clock: inout TransferClock,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let answer = clock.hasExpired(at: time)
        #expect(answer == isExpired, sourceLocation: sourceLocation)
    }
}
