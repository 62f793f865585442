import Coordination
import Memory
import TestSupport
import Testing

@testable import DiskCaching

@Suite(.timeLimit(.minutes(2)))
struct DiskStoreTests {
    @Test(arguments: [0, 1, 800, 3_000, 4_096, 100_000, 400_000])
    func `a stored entry is read back byte for byte, also after a restart`(count: Int) async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore(capacity: 8 << 20) { store in
            #expect(store.store(.sample(1, count: count), for: .source(1)))
            let entry = try #require(await store.entry(for: .source(1)))
            #expect(entry.isSample(1) && entry.body.count == count)
        }
        try await fixture.withStore(capacity: 8 << 20) { store in
            let entry = try #require(await store.entry(for: .source(1)))
            #expect(entry.isSample(1) && entry.body.count == count)
            #expect(await store.entry(for: .source(2)) == nil)
            #expect(await store.entry(for: .result(1, of: 1)) == nil)
            let share = try #require(store.statistics.partitions[.source])
            #expect(share.hits == 1 && share.misses == 1 && share.entries == 1)
        }
        #expect(fixture.files == ["alula-cache.sqlite", "alula-cache.sqlite.trusted"])
    }

    @Test func `a second entry under a key replaces the first`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            store.store(.sample(1, count: 50_000), for: .source(7))
            store.store(.sample(2, count: 5_000), for: .source(7))
            #expect(await store.entry(for: .source(7))?.isSample(2) == true)
            #expect(store.statistics.partitions[.source]?.entries == 1)
            #expect(store.statistics.partitions[.source]?.usage == CacheValue.sample(2, count: 5_000).cost)
        }
    }

    @Test func `a share stays under its bound, and the least recently used go first`() async throws {
        let fixture = try StoreFixture()
        let cost = CacheValue.sample(0).cost
        try await fixture.withStore(capacity: 10 * cost) { store in
            for number in 0..<10 { store.store(.sample(number), for: .source(number)) }
            await store.settled()
            #expect(await store.entry(for: .source(0))?.isSample(0) == true)
            for number in 10..<14 { store.store(.sample(number), for: .source(number)) }
            await store.settled()
            var left: [Int] = []
            for number in 0..<14 where await store.entry(for: .source(number)) != nil { left.append(number) }
            #expect(left == [0, 5, 6, 7, 8, 9, 10, 11, 12, 13])
            let share = try #require(store.statistics.partitions[.source])
            #expect(share.usage == 10 * cost && share.capacity == 10 * cost && share.evictedBytes == 4 * cost)
        }
    }

    @Test func `the order of use outlives a restart`() async throws {
        let fixture = try StoreFixture()
        let cost = CacheValue.sample(0).cost
        try await fixture.withStore(capacity: 4 * cost) { store in
            for number in 0..<4 { store.store(.sample(number), for: .source(number)) }
            await store.settled()
            _ = await store.entry(for: .source(0))
        }
        try await fixture.withStore(capacity: 4 * cost) { store in
            store.store(.sample(4), for: .source(4))
            await store.settled()
            #expect(await store.entry(for: .source(1)) == nil)
            #expect(await store.entry(for: .source(0)) != nil)
        }
    }

    @Test func `the file's size stays near its limit under any load`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore(capacity: 1 << 20) { store in
            for number in 0..<400 {
                store.store(.sample(number, count: 1_000 + number * 97 % 60_000), for: .source(number))
                if number % 50 == 0 { await store.settled() }
            }
            await store.settled()
            let share = try #require(store.statistics.partitions[.source])
            #expect(share.usage <= 1 << 20)
        }
        let size = try fixture.read().count
        #expect(size < (1 << 20) * 3 / 2)
    }

    @Test
    func `an entry larger than its share is dropped and evicts nothing, and the entry that it replaces is removed`()
        async throws
    {
        let fixture = try StoreFixture()
        try await fixture.withStore(capacity: 100_000) { store in
            store.store(.sample(1), for: .source(1))
            store.store(.sample(2), for: .source(2))
            store.store(.sample(3, count: 200_000), for: .source(2))
            #expect(await store.entry(for: .source(2)) == nil)
            #expect(await store.entry(for: .source(1)) != nil)
            #expect(store.statistics.partitions[.source]?.evictedBytes == 0)
        }
    }

    @Test func `a smaller limit than before is reached soon after the start`() async throws {
        let fixture = try StoreFixture()
        let cost = CacheValue.sample(0).cost
        try await fixture.withStore { store in
            for number in 0..<200 { store.store(.sample(number), for: .source(number)) }
        }
        try await fixture.withStore(capacity: 5 * cost) { store in
            for _ in 0..<20 { await store.settled() }
            #expect(store.statistics.partitions[.source]?.entries == 5)
            #expect(await store.entry(for: .source(199))?.isSample(199) == true)
        }
    }

    @Test func `capacities change while the store is open`() async throws {
        let fixture = try StoreFixture()
        let cost = CacheValue.sample(0).cost
        try await fixture.withStore(capacity: 20 * cost) { store in
            for number in 0..<20 { store.store(.sample(number), for: .source(number)) }
            await store.settled()
            store.setCapacities([.source: 5 * cost])
            for _ in 0..<20 { await store.settled() }
            #expect(store.statistics.partitions[.source]?.entries == 5)
            #expect(store.statistics.partitions[.source]?.capacity == 5 * cost)
            #expect(await store.entry(for: .source(19))?.isSample(19) == true)
            store.setCapacities([.source: 10 * cost])
            for number in 20..<40 { store.store(.sample(number), for: .source(number)) }
            await store.settled()
            #expect(store.statistics.partitions[.source]?.entries == 10)
        }
    }

    @Test func `removing a source removes its results and nothing else`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            store.store(.sample(1), for: .source(1))
            store.store(.sample(2), for: .result(10, of: 1))
            store.store(.sample(3), for: .result(11, of: 1))
            store.store(.sample(4), for: .result(12, of: 2))
            await store.settled()
            let removed = await store.purgeAll(from: .text(1))
            #expect(removed.entries == 3 && removed.bytes == 3 * CacheValue.sample(1).cost)
            #expect(await store.entry(for: .source(1)) == nil)
            #expect(await store.entry(for: .result(11, of: 1)) == nil)
            let again = await store.purgeAll(from: .text(1))
            #expect(again.entries == 0)
        }
        try await fixture.withStore { store in
            #expect(await store.entry(for: .result(10, of: 1)) == nil)
        }
    }

    @Test func `removing everything leaves the notes, and frees the space`() async throws {
        let fixture = try StoreFixture()
        let note = DiskNote(name: .text(1), bytes: .text(12_345))
        try await fixture.withStore { store in
            for number in 0..<20 { store.store(.sample(number, count: 20_000), for: .source(number)) }
            #expect(await store.store([note]))
            let removed = await store.purgeEverything()
            #expect(removed.entries == 20)
            #expect(await store.entry(for: .source(3)) == nil)
            #expect(await store.notes() == [note])
            store.store(.sample(5), for: .source(5))
            #expect(await store.entry(for: .source(5))?.isSample(5) == true)
        }
        let size = try fixture.read().count
        #expect(size < 100_000)
    }

    @Test func `a queued write does not restore an entry removed in the meantime`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            let hold = await store.hold()
            store.store(.sample(1), for: .source(1))
            store.store(.sample(2), for: .source(2))
            store.forgetAll(from: .text(1))
            hold.release()
            #expect(await store.entry(for: .source(1)) == nil)
            #expect(await store.entry(for: .source(2))?.isSample(2) == true)
        }
    }

    @Test func `a reader follows a queued write of its source`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            let hold = await store.hold()
            store.store(.sample(1), for: .source(1))
            async let entry = store.entry(for: .source(1))
            hold.release()
            #expect(await entry?.isSample(1) == true)
        }
    }

    @Test func `writes beyond the queue's limit are dropped and counted, and the entries to replace are removed`()
        async throws
    {
        let fixture = try StoreFixture()
        try await fixture.withStore({ $0.maximumPendingBytes = 10_000 }) { store in
            store.store(.sample(1), for: .source(1))
            await store.settled()
            let hold = await store.hold()
            #expect(store.store(.sample(2, count: 9_000), for: .source(2)))
            #expect(!store.store(.sample(3, count: 9_000), for: .source(1)))
            hold.release()
            #expect(await store.entry(for: .source(1)) == nil)
            #expect(await store.entry(for: .source(2)) != nil)
            #expect(store.statistics.droppedWrites == 1)
        }
    }

    @Test func `a removal needs no space in the queue`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore({ $0.maximumPendingJobs = 1 }) { store in
            store.store(.sample(1), for: .source(1))
            await store.settled()
            let hold = await store.hold()
            store.store(.sample(2), for: .source(2))
            let removed = await store.purgeAll(from: .text(1))
            #expect(removed.entries == 0)
            hold.release()
            await store.settled()
            #expect(await store.entry(for: .source(1)) == nil)
        }
    }

    @Test func `a reader waits for the disk up to its limit`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore({ $0.readTimeLimit = .seconds(1) }) { store in
            store.store(.sample(1), for: .source(1))
            await store.settled()
            let hold = await store.hold()
            async let entry = store.entry(for: .source(1))
            await fixture.time.sleepers(1)
            fixture.time.advance(by: .seconds(1))
            #expect(await entry == nil)
            hold.release()
        }
    }

    @Test func `many concurrent readers, writers and removers find a stored entry or nothing`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore(capacity: 200_000) { store in
            let isRight = await withTaskGroup(of: Bool.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        for turn in 0..<60 {
                            let number = (worker * 7 + turn * 13) % 40
                            switch turn % 6 {
                            case 0, 1: store.store(.sample(number, count: 2_000 + number * 100), for: .source(number))
                            case 2 where turn % 12 == 2: store.forgetAll(from: .text(number))
                            default:
                                guard let entry = await store.entry(for: .source(number)) else { continue }
                                guard entry.isSample(number) else { return false }
                            }
                        }
                        return true
                    }
                }
                return await group.reduce(true) { $0 && $1 }
            }
            #expect(isRight)
            await store.settled()
            let counted = Promise<DiskUsage?>()
            let before = store.statistics
            await store.withDatabase { database in
                try database.entries.count()
                counted.fulfill(database.entries.usage[.source])
            }
            let usage = await counted.value()
            #expect(usage?.bytes ?? 0 == before.partitions[.source]?.usage)
            #expect(usage?.entries ?? 0 == before.partitions[.source]?.entries)
            #expect(before.damagedEntries == 0 && before.failures == 0)
        }
    }
}
