import HTTPTypes
import Memory
import TestSupport
import Testing

@testable import Downloading

/// Requests that revalidate a stored source.
@Suite(.timeLimit(.minutes(1)))
struct ConditionalRequestTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test func `the origin is revalidated by tag and date, and its 304 is a confirmation`() async throws {
        let clock = ManualTimekeeper(secondsSince1970: 1_000)
        let fixture = try LoaderFixture(timekeeper: clock)
        fixture.origin.serve("/a", .image([1, 2]).with("ETag", "W/\"1\"").with("Last-Modified", Self.date))
        let source = try await fixture.load("/a")
        #expect(source.head.receivedAt == HTTPDate(secondsSince1970: 1_000))
        fixture.origin.serve("/a", FakeResponse.status(304).with("Cache-Control", "max-age=7"))
        clock.advance(by: .seconds(5))
        let answer = try await fixture.ask("/a", about: source.head)
        guard case .notModified(let confirmation) = answer else {
            Issue.record("no confirmation")
            return
        }
        #expect(confirmation.headerFields[.cacheControl] == "max-age=7")
        #expect(confirmation.receivedAt == HTTPDate(secondsSince1970: 1_005))
        let request = try #require(fixture.origin.requests.last)
        #expect(request.value("If-None-Match") == "W/\"1\"")
        #expect(request.value("If-Modified-Since") == Self.date)
        // The next transfer on the same handle is unconditional.
        fixture.origin.serve("/b", .image([3]))
        try await fixture.load("/b")
        #expect(fixture.origin.requests.last?.value("If-None-Match") == nil)
    }

    @Test func `a revalidation may return a new image`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/a", .image([1]).with("ETag", "\"1\""))
        let source = try await fixture.load("/a")
        fixture.origin.serve("/a", .image([2]).with("ETag", "\"2\""))
        guard case .source(let new) = try await fixture.ask("/a", about: source.head) else {
            Issue.record("no source")
            return
        }
        #expect(new.bytes.array == [2])
        #expect(new.validator == .entityTag("\"2\""))
    }

    @Test func `a tag is sent to the URL that gave it, not to a URL that redirects there or to another`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/a", .redirect(to: "/b"))
        fixture.origin.serve("/b", .image([1]).with("ETag", "\"1\""))
        let source = try await fixture.load("/a")
        fixture.origin.serve("/b", .status(304))
        guard case .notModified = try await fixture.ask("/a", about: source.head) else {
            Issue.record("no confirmation")
            return
        }
        #expect(fixture.origin.requests.suffix(2).map { $0.value("If-None-Match") } == [nil, "\"1\""])
        // The URL now redirects to another image with the same entity tag.
        fixture.origin.serve("/a", .redirect(to: "/c"))
        fixture.origin.serve("/c", .image([3]).with("ETag", "\"1\""))
        guard case .source(let other) = try await fixture.ask("/a", about: source.head) else {
            Issue.record("no source")
            return
        }
        #expect(other.bytes.array == [3])
        #expect(other.validator != source.validator)
        #expect(fixture.origin.requests.last?.value("If-None-Match") == nil)
    }

    @Test func `an unsolicited 304 stays an error`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/a", .status(304))
        let error = await #expect(throws: DownloadError.self) { try await fixture.load("/a") }
        #expect(error.map(isProtocolError) == true)
    }

    @Test func `the fields that a response varies by are stored with it`() async throws {
        let fixture = try LoaderFixture { $0.accept = "image/png" }
        fixture.origin.serve("/a", .image([1]).with("Vary", "Accept, Cookie"))
        let head = try await fixture.load("/a").head
        #expect(head.selectingFields[.accept] == "image/png")
        #expect(head.isSelected(by: head.identity.rules.selectingFields))
        var other = fixture.configuration
        other.accept = "image/webp"
        #expect(!head.isSelected(by: DownloadRules(other).unnamed.selectingFields))
    }

    @Test(
        arguments: [
            (nil, nil), ("max-age=3", 3), ("no-store", 0), ("private", 0), ("no-cache", 0), ("max-age=900", 900),
        ] as [(String?, Int?)])
    func `an origin's lifetime of its failure is respected`(control: String?, seconds: Int?) async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/a", control.map { FakeResponse.status(404).with("Cache-Control", $0) } ?? .status(404))
        let progress = TransferProgress()
        await #expect(throws: DownloadError.notFound(404)) { try await fixture.load("/a", progress: progress) }
        #expect(progress.errorLifetime == seconds.map { .seconds($0) })
    }
}

extension LoaderFixture {
    /// Revalidates a stored source.
    func ask(_ path: String, about head: SourceHead) async throws -> TransferResult {
        try await loader.load(
            request(origin.url(path), condition: SourceCondition(head)), progress: TransferProgress())
    }
}
