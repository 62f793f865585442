import Memory
import Testing

@testable import DiskCaching

/// Notes have their own limit and take no space from entries.
@Suite(.timeLimit(.minutes(2)))
struct DiskNotesTests {
    private func note(_ number: Int, count: Int = 10) -> DiskNote {
        DiskNote(name: .text(number), bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count))
    }

    @Test func `notes are stored together or not at all, and replace those with their names`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore({ $0.noteCapacity = 10_000 }) { store in
            #expect(await store.store([note(1), note(2)]))
            #expect(store.statistics.noteUsage == 2_048)
            #expect(await !store.store([note(3), note(4, count: 9_000)]))
            #expect(await store.notes() == [note(1), note(2)])
            let longer = note(1, count: 5_000)
            #expect(await store.store([longer]))
            #expect(await store.notes() == [longer, note(2)])
            #expect(store.statistics.noteUsage == 8_192 + 1_024)
            store.removeNotes([longer.name, note(9).name])
            #expect(await store.notes() == [note(2)])
            #expect(store.statistics.noteUsage == 1_024)
        }
        try await fixture.withStore { store in #expect(store.statistics.noteUsage == 1_024) }
    }

    @Test func `a note replaces only an existing note of the same length`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            #expect(await store.store([note(1)]))
            let other = DiskNote(name: .text(1), bytes: [UInt8](repeating: 9, count: 10))
            store.replaceLater(other)
            store.replaceLater(note(2))
            store.replaceLater(note(1, count: 3_000))
            #expect(await store.notes() == [other])
        }
    }

    @Test func `notes beyond their limit cost the entries nothing`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            for number in 0..<50 { store.store(.sample(number, count: 20_000), for: .source(number)) }
            // More than the file's hard limit allows, then more than fits on a full disk.
            #expect(await !store.store([note(1, count: 40 << 20)]))
            await store.withDatabase { database in
                var pages = 0
                try database.connection.prepare("PRAGMA page_count").run { row throws(SQLiteError) in pages = row.int(0)
                }
                try database.connection.execute("PRAGMA max_page_count = \(pages)")
            }
            #expect(await !store.store([note(2, count: 200_000)]))
            await store.withDatabase { try $0.connection.execute("PRAGMA max_page_count = 1000000") }
            #expect(store.statistics.isWorking && store.statistics.failures == 0)
            #expect(store.statistics.partitions[.source]?.entries == 50)
            for number in 0..<50 {
                #expect(await store.entry(for: .source(number))?.isSample(number) == true)
            }
            #expect(await store.notes() == [] && store.statistics.noteUsage == 0)
            #expect(fixture.log.messages == [])
        }
    }

    @Test func `entries that fill their share leave the notes' space`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore({ $0.noteCapacity = 4 << 20 }) { store in
            for number in 0..<3 { #expect(await store.store([note(number, count: 1 << 20)])) }
            for number in 0..<300 { store.store(.sample(number, count: 20_000), for: .source(number)) }
            #expect(await store.store([note(3, count: 900_000)]))
            #expect(await store.notes().count == 4)
            #expect(store.statistics.isWorking && store.statistics.failures == 0)
        }
    }
}
