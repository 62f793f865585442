import Coordination
import Foundation
import Glibc
import Memory
import TestSupport
import Testing

@testable import DiskCaching

/// A file that cannot be read or written is reported, skipped, and tried again later.
@Suite(.timeLimit(.minutes(2)))
struct DiskFailureTests {
    @Test func `a read-only file is not used, reported once, and retried later`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            store.store(.sample(1), for: .source(1))
            await store.withDatabase { try $0.connection.execute("PRAGMA query_only = ON") }
            store.store(.sample(2), for: .source(2))
            await store.settled()
            #expect(!store.statistics.isWorking && store.statistics.failures == 1)
            #expect(await store.entry(for: .source(1)) == nil)
            #expect(!store.store(.sample(3), for: .source(3)))
            #expect(fixture.log.messages == ["disk cache disabled"])
            #expect(fixture.files == [])

            fixture.time.advance(by: .seconds(60))
            store.store(.sample(4), for: .source(4))
            #expect(await store.entry(for: .source(4))?.isSample(4) == true)
            #expect(await store.entry(for: .source(1)) == nil)
            #expect(store.statistics.isWorking)
            #expect(fixture.log.messages == ["disk cache disabled", "disk cache enabled again"])
        }
    }

    @Test func `a full file evicts entries before it gives up`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            for number in 0..<20 { store.store(.sample(number, count: 20_000), for: .source(number)) }
            // With no more pages, new entries must replace old ones.
            await store.withDatabase { database in
                var pages = 0
                try database.connection.prepare("PRAGMA page_count").run { row throws(SQLiteError) in pages = row.int(0)
                }
                try database.connection.execute("PRAGMA max_page_count = \(pages)")
            }
            store.store(.sample(50, count: 3_000), for: .source(50))
            await store.settled()
            let share = try #require(store.statistics.partitions[.source])
            if store.statistics.isWorking {
                #expect(await store.entry(for: .source(50))?.isSample(50) == true)
                #expect(share.entries >= 1)
            }
            for number in 0..<20 {
                guard let entry = await store.entry(for: .source(number)) else { continue }
                #expect(entry.isSample(number))
            }
        }
    }

    @Test func `a file damaged while open is recreated at once`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            store.store(.sample(1), for: .source(1))
            await store.withDatabase { database in
                try database.connection.execute("DROP INDEX entry_name")
                try database.connection.execute("DROP TABLE body")
            }
            #expect(await store.entry(for: .source(1)) == nil)
            #expect(store.statistics.damagedFiles == 1 && store.statistics.isWorking)
            store.store(.sample(2), for: .source(2))
            #expect(await store.entry(for: .source(2))?.isSample(2) == true)
            #expect(fixture.log.messages == ["disk cache file damaged"])
        }
    }

    @Test func `wrong totals are detected by a recount`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            store.store(.sample(1), for: .source(1))
            await store.withDatabase { try $0.connection.execute("UPDATE entry SET cost = -5") }
        }
        try await fixture.withStore { store in
            #expect(await store.entry(for: .source(1)) == nil)
            #expect(store.statistics.damagedFiles == 1)
        }
    }

    @Test func `a closed store returns nothing and leaves its file`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.store()
        store.store(.sample(1), for: .source(1))
        await store.shutDown(timeLimit: .seconds(40))
        #expect(await store.entry(for: .source(1)) == nil)
        #expect(!store.store(.sample(2), for: .source(2)))
        store.forgetAll(from: .text(1))
        try await fixture.withStore { store in
            #expect(await store.entry(for: .source(1)) != nil)
        }
    }
}
