import TestSupport
import Testing

@testable import DiskCaching

/// Tags of sources on the disk.
@Suite(.timeLimit(.minutes(2)))
struct TagTableTests {
    private func source(_ number: Int) -> [UInt8] { Array("source \(number)".utf8) }

    @Test func `tags outlive a restart, and end with their source`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            store.note(["a", "b"], of: source(1), label: "http://h/1")
            store.note(["a"], of: source(2), label: "http://h/2")
            store.note(["a"], of: source(2), label: "http://h/2")
            #expect(await store.labels(under: "a").sorted() == ["http://h/1", "http://h/2"])
        }
        try await fixture.withStore { store in
            #expect(await store.labels(under: "a").sorted() == ["http://h/1", "http://h/2"])
            #expect(await store.labels(under: "b") == ["http://h/1"])
            #expect(await store.labels(under: "c").isEmpty)
            _ = await store.removedAll(from: source(1))
            #expect(await store.labels(under: "a") == ["http://h/2"])
            #expect(await store.labels(under: "b").isEmpty)
            store.removeAll(from: source(2))
            #expect(await store.labels(under: "a").isEmpty)
            store.note(["a"], of: source(3), label: "http://h/3")
            _ = await store.removedEverything()
            #expect(await store.labels(under: "a").isEmpty)
        }
    }

    @Test func `a source whose tags have no room is removed`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore(capacity: 1 << 20) { store in
            store.store(.sample(0), for: .source(0))
            store.note(["first"], of: .text(0), label: "0")
            await store.settled()
            #expect(await store.labels(under: "first") == ["0"])
            let rows = 1_024
            for first in stride(from: 1, to: rows + 2, by: 256) {
                for number in first..<first + 256 { store.note(["a"], of: source(number), label: "\(number)") }
                await store.settled()
            }
            let left = await store.labels(under: "a")
            #expect(await store.labels(under: "first").isEmpty)
            #expect(await store.entry(for: .source(0)) == nil)
            #expect(left.count > 900 && left.count <= rows)
        }
    }
}
