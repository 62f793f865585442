import Foundation
import Memory
import Telemetry
import TestSupport
import Testing

@testable import DiskCaching

/// With a damaged file, the store returns either the stored bytes or nothing.
@Suite(.timeLimit(.minutes(3)))
struct DiskDamageTests {
    private static let count = 24

    /// A file whose entries use all kinds of pages: rows, overflow pages, interior pages, indexes.
    private func filled(_ fixture: StoreFixture) async throws -> [UInt8] {
        try await fixture.withStore { store in
            for number in 0..<Self.count {
                store.store(.sample(number, count: 300 + number * 700), for: .source(number))
            }
            await store.settled()
        }
        return try fixture.read()
    }

    /// Returns the number of entries found, and records an issue for each wrong one.
    private func check(_ fixture: StoreFixture, _ comment: Comment) async throws -> Int {
        try await fixture.withStore { store in
            var found = 0
            for number in 0..<Self.count {
                guard let entry = await store.entry(for: .source(number)) else { continue }
                #expect(entry.isSample(number) && entry.body.count == 300 + number * 700, comment)
                found += 1
            }
            // The store works afterward; damage may be detected only by the first write.
            store.store(.sample(98), for: .source(98))
            await store.settled()
            store.store(.sample(99), for: .source(99))
            #expect(await store.entry(for: .source(99))?.isSample(99) == true, comment)
            return found
        }
    }

    @Test func `a flipped bit anywhere is a miss and never a wrong response`() async throws {
        let fixture = try StoreFixture()
        let intact = try await filled(fixture)
        var kept = 0
        // Every region of the first page, then one byte of each stretch of the file.
        let places =
            Array(0..<128) + stride(from: 128, to: 4_096, by: 241) + stride(from: 4_096, to: intact.count, by: 2_039)
        for place in places {
            var bytes = intact
            bytes[place] ^= 1 << UInt8(place % 8)
            try fixture.write(bytes)
            kept += try await check(fixture, "byte \(place)")
        }
        // Most flips affect at most one entry; if the others are found, the file was read.
        #expect(kept > places.count * Self.count / 2)
    }

    @Test func `a truncated file is a miss where data is missing`() async throws {
        let fixture = try StoreFixture()
        let intact = try await filled(fixture)
        for length in [
            0, 1, 15, 99, 100, 512, 4_095, 4_096, 4_097, 8_192, intact.count / 2, intact.count - 4_096,
            intact.count - 1,
        ] {
            try fixture.write(Array(intact.prefix(length)))
            let found = try await check(fixture, "\(length) bytes")
            #expect(found < Self.count || length > intact.count / 2)
        }
    }

    @Test func `pages of zeros and of noise are misses`() async throws {
        let fixture = try StoreFixture()
        let intact = try await filled(fixture)
        let noise = CacheValue.sample(5, count: 4_096).body.array
        for page in stride(from: 4_096, to: intact.count, by: 4_096) {
            for filling in [[UInt8](repeating: 0, count: 4_096), noise] {
                var bytes = intact
                bytes.replaceSubrange(page..<page + 4_096, with: filling)
                try fixture.write(bytes)
                _ = try await check(fixture, "page at \(page)")
            }
        }
    }

    @Test func `a misplaced page is a miss`() async throws {
        let fixture = try StoreFixture()
        let intact = try await filled(fixture)
        for page in stride(from: 4_096, to: intact.count - 4_096, by: 8_192) {
            var bytes = intact
            bytes.replaceSubrange(page..<page + 4_096, with: intact[(page + 4_096)..<(page + 8_192)])
            try fixture.write(bytes)
            _ = try await check(fixture, "page at \(page)")
        }
    }

    @Test func `a foreign file is moved aside unchanged`() async throws {
        let fixture = try StoreFixture()
        let text = Array("Somebody's letters, which are no database.".utf8)
        try fixture.write(text)
        #expect(try await check(fixture, "text") == 0)
        #expect(fixture.files == ["alula-cache.sqlite", "alula-cache.sqlite.set-aside", "alula-cache.sqlite.trusted"])
        let aside = try Data(contentsOf: URL(filePath: fixture.file + ".set-aside"))
        #expect(Array(aside) == text)
        #expect(fixture.log.messages == ["disk cache file not usable"])
    }

    @Test func `a foreign database is moved aside with its tables`() async throws {
        let fixture = try StoreFixture()
        try FileManager.default.createDirectory(atPath: fixture.folder, withIntermediateDirectories: true)
        do {
            let other = try SQLiteConnection(path: fixture.file)
            try other.execute("CREATE TABLE letter(text TEXT)")
            try other.execute("INSERT INTO letter VALUES('expensive')")
        }
        #expect(try await check(fixture, "database") == 0)
        let other = try SQLiteConnection(path: fixture.file + ".set-aside")
        var rows = 0
        try other.prepare("SELECT text FROM letter").run { _ throws(SQLiteError) in rows += 1 }
        #expect(rows == 1)
    }

    @Test func `another version's file is emptied`() async throws {
        let fixture = try StoreFixture()
        _ = try await filled(fixture)
        try await fixture.withStore(contentVersion: 2) { store in
            #expect(await store.entry(for: .source(3)) == nil)
            #expect(store.statistics.damagedFiles == 1)
        }
        #expect(fixture.files == ["alula-cache.sqlite", "alula-cache.sqlite.trusted"])
    }

    @Test func `a store file with a trigger or another table is not trusted`() async throws {
        let fixture = try StoreFixture()
        _ = try await filled(fixture)
        do {
            let other = try SQLiteConnection(path: fixture.file)
            try other.execute(
                "CREATE TRIGGER lie AFTER UPDATE ON entry BEGIN DELETE FROM entry; END")
        }
        #expect(try await check(fixture, "trigger") == 0)
    }

    @Test func `the log of a deleted file is not replayed into the next one`() async throws {
        let fixture = try StoreFixture()
        _ = try await filled(fixture)
        let store = try fixture.store()
        store.store(.sample(50), for: .source(50))
        await store.settled()
        let log = try Data(contentsOf: URL(filePath: fixture.file + "-wal"))
        await store.shutDown(timeLimit: .seconds(40))
        try fixture.write(Array("no database".utf8))
        try log.write(to: URL(filePath: fixture.file + "-wal"))
        #expect(try await check(fixture, "log") == 0)
    }

    @Test func `a log with a flipped bit loses its later entries`() async throws {
        let fixture = try StoreFixture()
        _ = try await filled(fixture)
        let store = try fixture.store()
        for number in 0..<Self.count {
            store.store(.sample(number, count: 300 + number * 700), for: .source(number))
        }
        await store.settled()
        // As after a kill: copies of the file and its log while the store has them open.
        let (file, log) = (try fixture.read(), try Data(contentsOf: URL(filePath: fixture.file + "-wal")))
        await store.shutDown(timeLimit: .seconds(40))
        for place in stride(from: 0, to: log.count, by: 20_011) {
            var bytes = log
            bytes[place] ^= 0x10
            try fixture.write(file)
            try bytes.write(to: URL(filePath: fixture.file + "-wal"))
            _ = try await check(fixture, "log byte \(place)")
        }
    }

    @Test func `a second store in the folder is rejected while the first has it`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            #expect(throws: DiskStoreError.inUse) { try fixture.store() }
            store.store(.sample(1), for: .source(1))
            #expect(await store.entry(for: .source(1)) != nil)
        }
    }

    @Test(arguments: ["/proc/alula", "/dev/null/alula", "/proc/self/at/all"])
    func `an inaccessible folder is an error`(folder: String) {
        let configuration = DiskStoreConfiguration(folder: folder, capacities: [.source: 1 << 20], contentVersion: 1)
        #expect(throws: DiskStoreError.self) {
            try DiskStore(configuration, logger: .silent, timekeeper: ManualTimekeeper())
        }
    }
}
