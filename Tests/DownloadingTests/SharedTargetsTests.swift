import Coordination
import Downloading
import HTTPTypes
import TestSupport
import Testing

/// Callers of one source whose targets differ in an ignored parameter.
@Suite(.timeLimit(.minutes(1)))
struct SharedTargetsTests {
    private let loader = StubLoader()
    private let cache = StubCache(keeps: true)
    private let time = ManualTimekeeper()
    /// Counts transfers that have ended and released their slots.
    private let ends = EventCounter()

    private func identity(_ token: String) throws -> SourceIdentity {
        SourceIdentity(
            url: try SourceURL(parsing: "http://example.com/a"),
            rules: .of(Origin(name: "photos", location: .folder(path: "/"))),
            target: try SourceURL(parsing: "http://example.com/a?token=\(token)"), sharesTargets: true)
    }

    private func begin(_ downloader: ImageDownloader, _ token: String) throws -> Task<SourceCopy, any Error> {
        let identity = try identity(token)
        return Task.immediate {
            try await downloader.download(SourceRequest(identity: identity), receipt: token)
        }
    }

    private func downloader() -> ImageDownloader {
        ImageDownloader(
            rules: DownloadRules(DownloadConfiguration()), loader: loader, cache: cache, timekeeper: time,
            observer: DownloadObserver(onFinish: { [ends] _ in ends.increment() }))
    }

    @Test func `a failure is remembered for the requested target only`() async throws {
        let downloader = downloader()
        loader.fail(with: .notFound(404))
        await #expect(throws: DownloadError.notFound(404)) { try await begin(downloader, "wrong").value }
        await #expect(throws: DownloadError.notFound(404)) { try await begin(downloader, "wrong").value }
        #expect(loader.started.count == 1, "the second is answered from memory")
        loader.fail(with: nil)
        loader.releaseAll()
        #expect(try await begin(downloader, "right").value.participation == .started)
        downloader.forget(try identity("right"))
        cache.removeAll()
        #expect(
            try await begin(downloader, "wrong").value.participation == .started,
            "a removal forgets every target's failure")
    }

    @Test func `a 404 of one target removes no copy`() async throws {
        let downloader = downloader()
        loader.releaseAll()
        _ = try await begin(downloader, "right").value
        loader.fail(with: .notFound(404))
        let reload = SourceRequest(identity: try identity("wrong"), directives: RequestCacheControl("no-cache"))
        await #expect(throws: DownloadError.notFound(404)) { try await downloader.download(reload, receipt: "") }
        #expect(try await begin(downloader, "right").value.participation == .cached)
    }

    @Test func `callers with another target do not share a failure`() async throws {
        let downloader = downloader()
        let wrong = try begin(downloader, "wrong")
        let right = try begin(downloader, "right")
        let alsoWrong = try begin(downloader, "wrong")
        let alsoRight = try begin(downloader, "right")
        await loader.starts(1)
        #expect(downloader.fetches.map(\.receipts) == [["wrong", "right", "wrong", "right"]])
        loader.release("/a", .status(403))
        await #expect(throws: DownloadError.status(403)) { try await wrong.value }
        await #expect(throws: DownloadError.status(403)) { try await alsoWrong.value }
        await loader.starts(2)
        #expect(downloader.fetches.map(\.receipts) == [["right", "right"]])
        #expect(downloader.activeRequestCount == 1)
        loader.release("/a")
        #expect(try await right.value.text == "/a")
        #expect(try await alsoRight.value.text == "/a")
        #expect(loader.started.count == 2 && downloader.activeRequestCount == 0)
    }

    @Test func `every target is requested at once, and a correct one does not wait for the failing ones`()
        async throws
    {
        let downloader = downloader()
        let wrong = try (0..<6).map { try begin(downloader, "wrong\($0)") }
        let right = try begin(downloader, "right")
        await loader.starts(1)
        loader.release("/a", .notFound(404))
        await #expect(throws: DownloadError.notFound(404)) { try await wrong[0].value }
        await loader.starts(7)
        #expect(downloader.fetches.map(\.receipts) == (1..<6).map { ["wrong\($0)"] } + [["right"]])
        loader.releaseAll()
        #expect(try await right.value.text == "/a")
        for task in wrong.dropFirst() { _ = try await task.value }
    }

    @Test func `a caller that waits again can still leave`() async throws {
        let downloader = downloader()
        let wrong = try begin(downloader, "wrong")
        let right = try begin(downloader, "right")
        await loader.starts(1)
        loader.release("/a", .status(403))
        await #expect(throws: DownloadError.status(403)) { try await wrong.value }
        await loader.starts(2)
        #expect(downloader.cancel(receipt: "right"))
        await #expect(throws: DownloadError.receiptCanceled) { try await right.value }
        await ends.reached(2)
        #expect(downloader.activeRequestCount == 0)
    }
}
