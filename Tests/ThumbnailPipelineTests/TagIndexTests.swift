import Downloading
import Testing
import Text

@testable import ThumbnailPipeline

/// The tags that an instance knows.
struct TagIndexTests {
    private var book = TagIndex()

    private func source(_ number: Int) throws -> SourceIdentity {
        SourceIdentity(url: try SourceURL(parsing: "http://h/\(number)"))
    }

    @Test mutating func `a source is found by each of its tags until it is forgotten`() throws {
        let (one, two) = (try source(1), try source(2))
        let news = [
            book.record(["a", "b"], of: one), book.record(["a"], of: two), book.record(["b"], of: one),
            book.record(["c"], of: one),
        ].map { $0.added }
        #expect(news == [["a", "b"], ["a"], [], ["c"]] && book.count == 4)
        #expect(book.sources(under: "a") == [one, two] && book.sources(under: "c") == [one])
        #expect(book.tags(of: one) == ["a", "b", "c"])
        book.forget(one)
        #expect(book.sources(under: "a") == [two] && book.sources(under: "b").isEmpty && book.count == 1)
        book.forgetAll()
        #expect(book.count == 0 && book.tags(of: two).isEmpty)
    }

    @Test mutating func `a source with too many tags is dropped, and starts again`() throws {
        let one = try source(1)
        for number in 0..<TagIndex.maximumTags {
            let dropped = book.record(["\(number)"], of: one).dropped
            #expect(dropped.isEmpty)
        }
        let last = book.record(["last"], of: one)
        #expect(last.added == ["last"] && last.dropped == [one] && book.tags(of: one) == ["last"] && book.count == 1)
    }

    @Test mutating func `it is bounded, and drops the oldest sources`() throws {
        let tags = (0..<8).map { ExactText("\($0)") }
        var dropped: [SourceIdentity] = []
        let sources = try (0..<TagIndex.capacity / 8 + 2).map { try source($0) }
        for source in sources { dropped += book.record(tags, of: source).dropped }
        #expect(dropped == Array(sources.prefix(2)) && book.count == TagIndex.capacity)
        for _ in 0..<3 {
            for source in sources {
                book.forget(source)
                _ = book.record(tags, of: source)
            }
        }
        #expect(book.count <= TagIndex.capacity && book.sources(under: "0").count <= TagIndex.capacity / 8)
    }
}
