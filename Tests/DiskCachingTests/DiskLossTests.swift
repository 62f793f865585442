import Foundation
import TestSupport
import Testing

@testable import DiskCaching

/// The file is removed or replaced while the store has it open.
@Suite(.timeLimit(.minutes(2)))
struct DiskLossTests {
    private let lost = "disk cache file gone or replaced"

    @Test(arguments: [true, false])
    func `a deleted folder is recreated, and reported once`(isFolder: Bool) async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            store.store(.sample(1), for: .source(1))
            #expect(await store.entry(for: .source(1))?.isSample(1) == true)
            try FileManager.default.removeItem(atPath: isFolder ? fixture.folder : fixture.file)
            #expect(await store.entry(for: .source(1)) == nil)
            #expect(fixture.log.messages == [lost])
            #expect(store.statistics.lostFiles == 1 && store.statistics.isWorking && store.statistics.failures == 0)
            #expect(store.statistics.partitions[.source]?.usage == 0)
            store.store(.sample(2), for: .source(2))
            #expect(await store.entry(for: .source(2))?.isSample(2) == true)
        }
        #expect(fixture.log.messages == [lost])
        try await fixture.withStore { store in
            #expect(await store.entry(for: .source(2))?.isSample(2) == true)
        }
    }

    @Test func `an older copy restored over the folder is not trusted`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in _ = store.store(.sample(1), for: .source(1)) }
        let copy = fixture.folder + ".copy"
        try FileManager.default.copyItem(atPath: fixture.folder, toPath: copy)
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try await fixture.withStore { store in
            _ = await store.purgeAll(from: .text(1))
            try FileManager.default.removeItem(atPath: fixture.folder)
            try FileManager.default.moveItem(atPath: copy, toPath: fixture.folder)
            #expect(await store.entry(for: .source(1)) == nil)
            #expect(store.statistics.lostFiles == 1)
            store.store(.sample(2), for: .source(2))
            #expect(await store.entry(for: .source(2))?.isSample(2) == true)
        }
    }

    @Test func `a log deleted alone is detected as well`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            store.store(.sample(1), for: .source(1))
            await store.settled()
            try FileManager.default.removeItem(atPath: fixture.file + "-wal")
            #expect(await store.entry(for: .source(1)) == nil)
            #expect(store.statistics.lostFiles == 1 && store.statistics.isWorking)
        }
    }

    @Test func `a foreign store in its place is not modified, and the lost file is abandoned`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            store.store(.sample(1), for: .source(1))
            await store.settled()
            try FileManager.default.moveItem(atPath: fixture.folder, toPath: fixture.folder + ".old")
            defer { try? FileManager.default.removeItem(atPath: fixture.folder + ".old") }
            try await fixture.withStore { other in
                other.store(.sample(2), for: .source(2))
                await other.settled()
                #expect(await store.entry(for: .source(1)) == nil)
                #expect(store.statistics.lostFiles == 1)
                #expect(await other.entry(for: .source(2))?.isSample(2) == true)
                #expect(other.statistics.lostFiles == 0)
            }
        }
    }
}
