import TestSupport
import Testing

@testable import DiskCaching

/// Tags of sources on disk.
@Suite(.timeLimit(.minutes(2)))
struct TagTableTests {
    private func source(_ number: Int) -> [UInt8] { Array("source \(number)".utf8) }

    @Test func `tags outlive a restart, and end with their source`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            store.recordTags(["a", "b"], of: source(1), label: "http://h/1")
            store.recordTags(["a"], of: source(2), label: "http://h/2")
            store.recordTags(["a"], of: source(2), label: "http://h/2")
            #expect(await store.labels(under: "a").labels.sorted() == ["http://h/1", "http://h/2"])
        }
        try await fixture.withStore { store in
            #expect(await store.labels(under: "a").labels.sorted() == ["http://h/1", "http://h/2"])
            #expect(await store.labels(under: "b").labels == ["http://h/1"])
            #expect(await store.labels(under: "c").labels.isEmpty)
            _ = await store.purgeAll(from: source(1))
            #expect(await store.labels(under: "a").labels == ["http://h/2"])
            #expect(await store.labels(under: "b").labels.isEmpty)
            store.forgetAll(from: source(2))
            #expect(await store.labels(under: "a").labels.isEmpty)
            store.recordTags(["a"], of: source(3), label: "http://h/3")
            await store.settled()
            _ = await store.purgeEverything()
            #expect(await store.labels(under: "a").labels.isEmpty)
        }
    }

    /// The minimum space for tags, in bytes.
    private static let room = 256 << 10

    @Test func `a source whose tags do not fit is removed`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore(capacity: 1 << 20) { store in
            store.store(.sample(0), for: .source(0))
            store.recordTags(["first"], of: .text(0), label: "0")
            await store.settled()
            #expect(await store.labels(under: "first").labels == ["0"])
            // Each tag takes slightly more than 256 bytes.
            for first in stride(from: 1, to: Self.room / 256 + 1, by: 256) {
                for number in first..<first + 256 { store.recordTags(["a"], of: source(number), label: "\(number)") }
                await store.settled()
            }
            let left = await store.labels(under: "a")
            #expect(await store.labels(under: "first").labels.isEmpty)
            #expect(await store.entry(for: .source(0)) == nil)
            #expect(left.isComplete && left.labels.count > 512 && left.labels.count < Self.room / 256)
            #expect(store.statistics.tagUsage <= Self.room)
        }
    }

    @Test func `the name of a source counts once, with any number of tags`() async throws {
        let fixture = try StoreFixture()
        let name = String(repeating: "u", count: 1_800)
        try await fixture.withStore(capacity: 1 << 20) { store in
            store.recordTags(["a"], of: source(1), label: name)
            await store.settled()
            let one = store.statistics.tagUsage
            store.recordTags(["b", "c", "d", "e", "f", "g", "h"], of: source(1), label: name)
            await store.settled()
            #expect(store.statistics.tagUsage < 2 * one)
        }
    }

    @Test func `long names count with their lengths, also after a restart`() async throws {
        let fixture = try StoreFixture()
        let name = String(repeating: "u", count: 2_040)
        try await fixture.withStore(capacity: 1 << 20) { store in
            for number in 0..<200 { store.recordTags(["a"], of: source(number), label: "\(number)" + name) }
            await store.settled()
            let left = await store.labels(under: "a").labels
            #expect(left.contains("199" + name) && left.count < Self.room / 4_096)
            #expect(store.statistics.tagUsage > Self.room / 2 && store.statistics.tagUsage <= Self.room)
        }
        try await fixture.withStore(capacity: 1 << 20) { store in
            #expect(store.statistics.tagUsage > Self.room / 2 && store.statistics.tagUsage <= Self.room)
            store.forgetAll(from: source(199))
            await store.settled()
            let left = await store.labels(under: "a").labels.count
            for number in 0..<200 { store.forgetAll(from: source(number)) }
            await store.settled()
            #expect(left > 0 && store.statistics.tagUsage == 0)
        }
    }
}
