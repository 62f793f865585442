import Coordination
import Testing
import Text

@testable import Downloading

/// The order in which transfers get slots.
struct DownloadSlotsTests {
    @Test func `slots are limited in total and per host`() {
        var slots = DownloadSlots(maximum: 3, perHost: 2)
        let tokens = ["a", "a", "a", "b", "c"].map { slots.acquire(for: $0) }
        #expect(tokens.map { $0 != nil } == [true, true, false, true, false])
        #expect(!slots.hasFreeSlot)
        #expect(slots.activeCount == 3)
    }

    @Test func `a host without free slots leaves slots to others`() {
        var slots = DownloadSlots(maximum: 3, perHost: 1)
        _ = slots.acquire(for: "a")
        #expect(!slots.hasFreeSlot(for: "a", at: .zero))
        #expect(slots.hasFreeSlot(for: "b", at: .zero))
    }

    @Test func `a token frees its slot once`() throws {
        var slots = DownloadSlots(maximum: 2, perHost: 2)
        let first = slots.acquire(for: "a")
        _ = slots.acquire(for: "a")
        let token = try #require(first)
        let returns = [slots.release(token, at: .zero), slots.release(token, at: .zero)]
        #expect(returns == [true, false])
        #expect(slots.activeCount == 1)
        let more = [slots.acquire(for: "a"), slots.acquire(for: "a")]
        #expect(more.map { $0 != nil } == [true, false])
    }

    @Test(arguments: [[0, 1, 2, 3, 4, 5, 6, 7], [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7]])
    func `eight greedy hosts leave slots to a ninth`(order: [Int]) {
        var slots = DownloadSlots(maximum: 32, perHost: 8)
        for round in 0..<64 { _ = slots.acquire(for: "greedy\(order[round % order.count])") }
        #expect(slots.activeCount >= 24)
        let others = (9..<12).map { slots.acquire(for: "\($0)") }
        #expect(others.allSatisfy { $0 != nil })
    }

    @Test func `a host alone takes all slots of its cap`() {
        var slots = DownloadSlots(maximum: 8, perHost: 100)
        let tokens = (0..<9).map { _ in slots.acquire(for: "a") }
        #expect(tokens.map { $0 != nil } == Array(repeating: true, count: 8) + [false])
    }

    @Test func `a slow host leaves half of the slots to others, and always has at least one`() {
        var slots = DownloadSlots(maximum: 32, perHost: 8)
        for host: ExactText in ["a", "b", "c"] {
            for _ in 0..<4 { _ = slots.acquire(for: host) }
        }
        // No bytes for two seconds.
        for host: ExactText in ["a", "b", "c"] { #expect(slots.isSlow(host, at: .seconds(2))) }
        for _ in 0..<8 { _ = slots.acquire(for: "a", progress: TransferProgress(), at: .seconds(2)) }
        #expect(slots.activeCount == 16)
        #expect(!slots.hasFreeSlot(for: "a", at: .seconds(2)))
        #expect(!slots.hasFreeSlot(for: "b", at: .seconds(2)))
        let quick = (0..<8).map { _ in slots.acquire(for: "quick", progress: TransferProgress(), at: .seconds(2)) }
        #expect(quick.allSatisfy { $0 != nil })
    }

    @Test func `tenants leave slots to each other, by weight`() throws {
        var slots = DownloadSlots(maximum: 32, perHost: 8)
        var tokens: [Int: [SlotToken]] = [:]
        for (id, weight) in [(1, 1), (2, 1), (3, 4)] {
            for number in 0..<100 {
                let token = slots.acquire(for: "host\(id).\(number)", of: .tenant(id, weight: weight))
                tokens[id, default: []] += token.map { [$0] } ?? []
            }
        }
        #expect(tokens.mapValues(\.count) == [1: 24, 2: 6, 3: 2])
        #expect(slots.acquire(for: "other", of: .tenant(4)) == nil)
        for token in try #require(tokens[1]) { slots.release(token, at: .zero) }
        let more = (0..<100).map { slots.acquire(for: "host3.\($0)", of: .tenant(3, weight: 4)) }
        #expect(more.count { $0 != nil } == 22, "a larger weight leaves less")
    }

    @Test func `a tenant leaves slots of a host to others, even of a slow host`() {
        var slots = DownloadSlots(maximum: 32, perHost: 8)
        let (greedy, other) = (Flow.tenant(1), Flow.tenant(2))
        for _ in 0..<8 { _ = slots.acquire(for: "shared", of: greedy) }
        #expect(slots.activeCount == 6)
        for number in 0..<100 { _ = slots.acquire(for: "host\(number)", of: greedy) }
        #expect(slots.activeCount == 24)
        let late = Duration.seconds(2)
        #expect(slots.isSlow("shared", at: late) && !slots.hasFreeSlot(for: "shared", of: greedy, at: late))
        #expect(slots.acquire(for: "shared", of: other, progress: TransferProgress(), at: late) != nil)
        #expect(!slots.hasFreeSlot(for: "shared", at: late), "without tenants, all transfers of a host count")
    }

    @Test func `a host is slow while half of its transfers are, and for a while after that`() throws {
        var slots = DownloadSlots(maximum: 32, perHost: 8)
        let quick = TransferProgress()
        let slow = TransferProgress()
        let tokens = [
            slots.acquire(for: "a", progress: quick, at: .zero), slots.acquire(for: "a", progress: slow, at: .zero),
        ]
        #expect(!slots.isSlow("a", at: .milliseconds(1_999)))
        try quick.receive(4 << 20)
        try slow.receive(6_000 * 10)
        #expect(slots.isSlow("a", at: .seconds(10)))
        slots.release(try #require(tokens[1]), at: .seconds(10))
        #expect(slots.isSlow("a", at: .seconds(39)))
        #expect(!slots.isSlow("b", at: .seconds(10)))
        // A fast host takes the slot back.
        slots.release(try #require(tokens[0]), at: .seconds(11))
        #expect(!slots.isSlow("a", at: .seconds(11)))
    }
}

extension DownloadSlots {
    /// Takes a slot at time zero for a transfer that has received no bytes.
    fileprivate mutating func acquire(for host: ExactText, of flow: Flow? = nil) -> SlotToken? {
        acquire(for: host, of: flow, progress: TransferProgress(), at: .zero)
    }
}
