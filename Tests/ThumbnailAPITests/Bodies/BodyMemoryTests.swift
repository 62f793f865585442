import Coordination
import Downloading
import HTTPTypes
import Memory
import Testing

@testable import ThumbnailAPI

/// Memory of request bodies, from the first byte to the response.
struct BodyMemoryTests {
    private static let mebibyte = 1 << 20
    private let budget = MemoryBudget(limit: 64 << 20)

    private func address(_ text: String) -> IPAddress? { IPAddress(text) }

    @Test func `a body reserves only the received bytes`() throws {
        let memory = BodyMemory(of: budget)
        let lease = try memory.lease(for: address("192.0.2.1"))
        #expect(budget.statistics.reserved == 0 && memory.taken == 0)
        try lease.grow(to: 1)
        #expect(budget.statistics.reserved == 64 << 10 && memory.taken == 64 << 10)
        try lease.grow(to: 64 << 10)
        #expect(memory.taken == 64 << 10)
        try lease.grow(to: 3 * Self.mebibyte)
        #expect(budget.statistics.reserved >= 3 * Self.mebibyte && memory.taken < 3 * Self.mebibyte + 64 << 10)
        lease.release()
        #expect(budget.statistics.reserved == 0 && memory.taken == 0)
    }

    @Test func `one client has a quarter of all bodies' share, and all have a quarter of the budget`() throws {
        let memory = BodyMemory(of: budget)
        var rooms: [BodyMemory.Lease] = []
        for client in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
            let lease = try memory.lease(for: address(client))
            try lease.grow(to: 4 * Self.mebibyte)
            #expect(throws: MemoryBudget.Full.self) { try memory.lease(for: self.address(client)).grow(to: 1) }
            rooms.append(lease)
        }
        let other = try memory.lease(for: address("2001:db8::1"))
        try other.grow(to: 3 * Self.mebibyte)
        // Addresses in one /64 network count as one client.
        #expect(throws: MemoryBudget.Full.self) {
            try memory.lease(for: self.address("2001:db8::ffff:2")).check(2 << 20)
        }
        let last = try memory.lease(for: nil)
        try last.grow(to: Self.mebibyte)
        #expect(memory.taken == 16 * Self.mebibyte && budget.statistics.reserved == 16 * Self.mebibyte)
        #expect(throws: MemoryBudget.Full.self) { try memory.lease(for: nil).grow(to: 1) }
        rooms[0].release()
        try last.grow(to: 2 * Self.mebibyte)
    }

    @Test(arguments: [1, 2, 7])
    func `of bodies that do not fit together, the last growing one always fits`(portions: Int) throws {
        let memory = BodyMemory(of: budget)
        let most = memory.maximumPerBody
        // Bodies of nearly a client's limit that arrive alternately.
        var rooms = try (0..<4).map { _ in try memory.lease(for: self.address("192.0.2.1")) }
        var length = 0
        while length < most - (256 << 10) {
            length += portions * 100_000
            rooms.removeAll { lease in (try? lease.grow(to: min(length, most))) == nil }
            try #require(!rooms.isEmpty)
        }
        #expect(rooms.count == 1 && memory.taken <= most)
        rooms[0].release()
        #expect(memory.taken == 0 && budget.statistics.reserved == 0)
    }

    @Test func `a rejected body releases its memory at once, also if the budget is full`() throws {
        let living = Locked(0)
        let budget = MemoryBudget(limit: 64 << 20, allocated: { living.withLock { $0 } })
        let memory = BodyMemory(of: budget)
        let lease = try memory.lease(for: address("192.0.2.1"))
        try lease.grow(to: Self.mebibyte)
        living.withLock { $0 = 60 << 20 }
        #expect(throws: MemoryBudget.Full.self) { try lease.grow(to: 3 * Self.mebibyte) }
        #expect(memory.taken == 0 && budget.statistics.reserved == 0)
    }

    @Test func `a complete body counts itself, and keeps its share until the response`() throws {
        let memory = BodyMemory(of: budget)
        var lease: BodyMemory.Lease? = try memory.lease(for: nil)
        try lease?.grow(to: Self.mebibyte)
        lease?.settle()
        #expect(budget.statistics.reserved == 0 && memory.taken == Self.mebibyte)
        #expect(throws: MemoryBudget.Full.self) { try memory.lease(for: nil).check(4 << 20) }
        lease = nil
        #expect(memory.taken == 0)
    }

    @Test func `a full budget rejects the next bytes, and the reserved ones are released`() throws {
        let memory = BodyMemory(of: budget)
        let others = try budget.reserveNow(48 << 20)
        var lease: BodyMemory.Lease? = try memory.lease(for: nil)
        #expect(throws: MemoryBudget.Full.self) { try lease?.grow(to: 1) }
        lease = nil
        #expect(memory.taken == 0 && budget.statistics.reserved == 48 << 20)
        others.release()
    }
}
