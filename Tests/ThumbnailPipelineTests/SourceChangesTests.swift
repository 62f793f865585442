import Downloading
import Testing

@testable import ThumbnailPipeline

struct SourceChangesTests {
    private func identity(_ path: String) throws -> SourceIdentity {
        SourceIdentity(url: try SourceURL(parsing: "http://example.com" + path))
    }

    @Test func `a reader is told of a change of its own source, and of no other's`() throws {
        var changes = SourceChanges()
        let (own, other) = (changes.begin(try identity("/a")), changes.begin(try identity("/b")))
        changes.note(try identity("/c"))
        #expect(changes.isUnchanged(since: own) && changes.isUnchanged(since: other))
        changes.note(try identity("/a"))
        #expect(!changes.isUnchanged(since: own) && changes.isUnchanged(since: other))
        let later = changes.begin(try identity("/a"))
        #expect(changes.isUnchanged(since: later))
    }

    @Test func `a change of all sources is told to all readers`() throws {
        var changes = SourceChanges()
        let ticket = changes.begin(try identity("/a"))
        changes.noteAll()
        #expect(!changes.isUnchanged(since: ticket))
        let later = changes.begin(try identity("/b"))
        #expect(changes.isUnchanged(since: later))
    }

    @Test func `only sources that are being read are counted`() throws {
        var changes = SourceChanges()
        for number in 0..<100 { changes.note(try identity("/\(number)")) }
        #expect(changes.count == 0)
        let tickets = [changes.begin(try identity("/a")), changes.begin(try identity("/a"))]
        #expect(changes.count == 1)
        changes.end(tickets[0])
        changes.note(try identity("/a"))
        #expect(!changes.isUnchanged(since: tickets[1]))
        changes.end(tickets[1])
        #expect(changes.count == 0)
    }
}
