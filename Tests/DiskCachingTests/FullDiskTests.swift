import Foundation
import Glibc
import Memory
import TestSupport
import Testing

@testable import DiskCaching

/// On a full disk the store is still read; it is written again once there is space.
@Suite(.timeLimit(.minutes(2)))
struct FullDiskTests {
    /// Makes the kernel reject writes beyond this size in any file, like a full disk; nil removes the limit.
    private static func limitFiles(to bytes: Int?) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        limit.rlim_cur = bytes.map { rlim_t($0) } ?? limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    }

    /// Fills the disk with entries of 20,000 bytes; returns the first number that was not written.
    private static func fill(_ store: DiskStore) async -> Int {
        limitFiles(to: 400_000)
        for number in 0..<100 {
            store.store(.sample(number, count: 20_000), for: .source(number))
            await store.settled()
            if store.statistics.isFull { return number }
        }
        return 0
    }

    /// Advances the clock until the store tries the disk again, and waits for that.
    private static func passTenSeconds(_ fixture: StoreFixture, _ store: DiskStore) async {
        await fixture.time.nextWaking(at: fixture.time.now + .seconds(10))
        fixture.time.advance(by: .seconds(10))
        await fixture.time.nextWaking(at: fixture.time.now + .seconds(10))
        await store.settled()
    }

    private static func isRead(_ number: Int, in store: DiskStore) async -> Bool {
        await store.entry(for: .source(number))?.isSample(number) == true
    }

    @Test func `a full disk is read, not written, and retried every ten seconds`() async {
        await #expect(processExitsWith: .success) {
            let fixture = try StoreFixture()
            let store = try fixture.store(capacity: 8 << 20)
            let first = await Self.fill(store)
            try #require(first > 2 && store.statistics.isWorking && store.statistics.fullDisks == 1)
            let isFirstRead = await Self.isRead(first, in: store)
            #expect(await Self.isRead(0, in: store))
            #expect(!isFirstRead)
            #expect(!store.store(.sample(0, count: 20_000), for: .source(0)))
            for number in 0..<100 { store.store(.sample(number), for: .source(number)) }
            await store.settled()
            #expect(await Self.isRead(1, in: store), "a dropped write removed what is there")
            #expect(store.statistics.droppedWrites >= 101 && fixture.log.messages == ["disk cache full; read-only"])

            await Self.passTenSeconds(fixture, store)
            #expect(store.statistics.isFull, "it was tried, and has no room yet")
            Self.limitFiles(to: nil)
            await Self.passTenSeconds(fixture, store)
            #expect(!store.statistics.isFull && fixture.log.messages.last == "disk cache writable again")
            #expect(store.store(.sample(first), for: .source(first)))
            #expect(await Self.isRead(first, in: store))
            #expect(await Self.isRead(0, in: store))
            await store.shutDown(timeLimit: .seconds(40))
        }
    }

    @Test func `an entry removed while the disk is full is not read again, also not after a restart`() async {
        await #expect(processExitsWith: .success) {
            let fixture = try StoreFixture()
            let store = try fixture.store(capacity: 8 << 20)
            try #require(await Self.fill(store) > 4)
            // The log accepts no more writes.
            Self.limitFiles(to: 4_096)
            store.forgetAll(from: .text(1))
            _ = await store.purgeAll(from: .text(2))
            store.forget(.source(3))
            store.recordTags(["new tag"], of: .text(4), label: "4")
            await store.settled()
            for number in 1...4 { #expect(await !Self.isRead(number, in: store), "\(number)") }
            #expect(await Self.isRead(0, in: store))
            Self.limitFiles(to: nil)
            let copy = try StoreFixture()
            try FileManager.default.copyItem(atPath: fixture.folder, toPath: copy.folder)
            // As after a kill.
            let killed = try copy.store(capacity: 8 << 20)
            for number in 1...4 { #expect(await !Self.isRead(number, in: killed), "\(number)") }
            #expect(await Self.isRead(0, in: killed))
            await Self.passTenSeconds(fixture, store)
            #expect(!store.statistics.isFull)
            await store.shutDown(timeLimit: .seconds(40))
            let again = try fixture.store(capacity: 8 << 20)
            #expect(await Self.isRead(0, in: again))
            for number in 1...4 { #expect(await !Self.isRead(number, in: again), "\(number)") }
        }
    }

    @Test func `a start on a full disk reads the existing cache, and runs without one if it is empty`() async {
        await #expect(processExitsWith: .success) {
            let fixture = try StoreFixture()
            let store = try fixture.store(capacity: 8 << 20)
            try #require(await Self.fill(store) > 4)
            await store.shutDown(timeLimit: .seconds(40))
            Self.limitFiles(to: 4_096)
            let again = try fixture.store(capacity: 8 << 20)
            #expect(again.statistics.isFull && fixture.log.messages.last == "disk cache full; read-only")
            #expect(await Self.isRead(0, in: again))
            await again.shutDown(timeLimit: .seconds(40))
            let empty = try StoreFixture()
            let new = try empty.store()
            #expect(new.statistics.isFull)
            #expect(await !Self.isRead(0, in: new))
            Self.limitFiles(to: nil)
            await Self.passTenSeconds(empty, new)
            #expect(new.store(.sample(1), for: .source(1)))
            #expect(await Self.isRead(1, in: new))
        }
    }
}
