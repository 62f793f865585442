import Testing

@testable import Downloading

struct DownloadSlotsTests {
    @Test func `slots are capped in all and per host`() {
        var slots = DownloadSlots(maximum: 3, perHost: 2)
        let tokens = ["a", "a", "a", "b", "c"].map { slots.take(for: $0) }
        #expect(tokens.map { $0 != nil } == [true, true, false, true, false])
        #expect(!slots.hasRoom)
        #expect(slots.activeCount == 3)
    }

    @Test func `a host without room leaves room for others`() {
        var slots = DownloadSlots(maximum: 3, perHost: 1)
        _ = slots.take(for: "a")
        #expect(!slots.hasRoom(for: "a"))
        #expect(slots.hasRoom(for: "b"))
    }

    @Test func `19: a token frees its slot once`() throws {
        var slots = DownloadSlots(maximum: 2, perHost: 2)
        let first = slots.take(for: "a")
        _ = slots.take(for: "a")
        let token = try #require(first)
        let returns = [slots.giveBack(token), slots.giveBack(token)]
        #expect(returns == [true, false])
        #expect(slots.activeCount == 1)
        let more = [slots.take(for: "a"), slots.take(for: "a")]
        #expect(more.map { $0 != nil } == [true, false])
    }
}
