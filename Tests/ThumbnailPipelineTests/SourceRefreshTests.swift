import Coordination
import Downloading
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// The effect of `POST /refresh` on a source.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct SourceRefreshTests {
    private let fixture: PipelineFixture

    init() throws { fixture = try PipelineFixture() }

    private func refresh(_ path: String = "/a") async throws -> SourceRefresh.Result {
        try await fixture.control.refresh(source: "http://example.com\(path)", receipt: "operator").result
    }

    private var entries: [Int] { fixture.caches.statistics.prefix(3).map(\.statistics.usage.entries) }

    @Test func `an unknown source counts as changed, and is cached`() async throws {
        #expect(try await refresh() == .changed)
        #expect(entries == [0, 0, 1])
        _ = try await fixture.thumbnail()
        #expect(fixture.origin.loads == 1)
    }

    @Test func `a confirmed source is unchanged, and so are its results`() async throws {
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600", eTag: "\"1\"")
        _ = try await fixture.thumbnail()
        #expect(try await refresh() == .unchanged)
        #expect(fixture.origin.confirmations == 1)
        #expect(entries == [1, 1, 1])
    }

    @Test func `the same bytes are unchanged, with the same entity tag, another one or none`() async throws {
        for eTag in ["\"1\"", "\"2\"", nil, nil] {
            fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600", eTag: eTag)
            if eTag == "\"1\"" { _ = try await fixture.thumbnail() }
            #expect(try await refresh() == .unchanged, "\(eTag ?? "none")")
        }
    }

    @Test func `results of a changed source are no longer served, regardless of their freshness`() async throws {
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600", eTag: "\"1\"")
        let old = try await fixture.thumbnail()
        fixture.origin.serve(SampleFiles.other, cacheControl: "max-age=3600", eTag: "\"2\"")
        #expect(try await refresh() == .changed)
        #expect(fixture.pipeline.cachedThumbnail(for: .path()) == nil)
        #expect(try await fixture.thumbnail().eTag != old.eTag)
        #expect(fixture.origin.loads == 2)
    }

    @Test(arguments: [404, 410])
    func `the copies of a missing source are dropped`(status: Int) async throws {
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600")
        _ = try await fixture.thumbnail()
        fixture.origin.fail(with: .notFound(status))
        #expect(try await refresh() == .gone)
        #expect(entries == [0, 0, 0])
        await #expect(throws: DownloadError.notFound(status)) { try await fixture.thumbnail() }
        fixture.origin.fail(with: nil)
        #expect(try await refresh() == .changed)
    }

    @Test(arguments: [
        DownloadError.status(500), .timedOut, .unreachable(""), .notAnImage("text/html"), .sourceNotAllowed(""),
    ])
    func `after a failure the copies stay`(error: DownloadError) async throws {
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600")
        _ = try await fixture.thumbnail()
        fixture.origin.fail(with: error)
        let refresh = try await fixture.control.refresh(source: "http://example.com/a", receipt: "operator")
        #expect(refresh.result == .failed)
        #expect(refresh.failure as? DownloadError == error)
        #expect(entries == [1, 1, 1])
        #expect(try await fixture.thumbnail().statusTexts == ["alula-result hit"])
    }

    @Test func `a response that is not an image replaces nothing`() async throws {
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600")
        _ = try await fixture.thumbnail()
        fixture.origin.serve(SampleFiles.text, cacheControl: "max-age=3600")
        #expect(try await refresh() == .failed)
        #expect(entries == [1, 1, 1])
        #expect(try await fixture.thumbnail().statusTexts == ["alula-result hit"])
    }

    @Test func `two refreshes share a transfer, and later callers join it`() async throws {
        let gate = fixture.origin.hold()
        let refreshes = (0..<2).map { _ in Task.immediate { try await refresh() } }
        await gate.arrivals(1)
        let caller = fixture.start()
        #expect(await eventually { fixture.downloader.fetches.map(\.receipts.count) == [3] })
        gate.open()
        for refresh in refreshes { #expect(try await refresh.value == .changed) }
        _ = try await caller.value
        #expect(fixture.origin.loads == 1)
    }

    @Test func `a refresh canceled by an operator has failed`() async throws {
        let gate = fixture.origin.hold()
        let refreshing = Task.immediate { try await refresh() }
        await gate.arrivals(1)
        #expect(
            try fixture.control.cancelDownloads(of: "http://example.com/a")
                == CanceledDownloads(downloads: 1, callers: 1))
        #expect(try await refreshing.value == .failed)
        gate.open()
    }

    @Test func `an invalid URL is rejected`() async {
        await #expect(throws: SourceURLError.self) {
            try await fixture.control.refresh(source: "nothing", receipt: "operator")
        }
        #expect(throws: SourceURLError.self) { try fixture.control.cancelDownloads(of: "nothing") }
        #expect(throws: SourceURLError.self) { try fixture.control.sourceName(of: "http://user:secret@h/") }
    }
}
