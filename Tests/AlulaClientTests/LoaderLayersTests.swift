import Foundation
import TestSupport
import Testing

@testable import AlulaClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Cache layers, revalidation, progress, retries and prefetching with a scripted service.
@Suite(.timeLimit(.minutes(2)))
struct LoaderLayersTests {
    private let origin: FakeOrigin
    private let service: ThumbnailService
    private let time = ManualTimekeeper()
    private let folder = TemporaryFolder()

    init() throws {
        origin = try FakeOrigin()
        service = try ThumbnailService(try #require(URL(string: origin.url(""))))
    }

    private func url(_ path: String) -> URL { service.baseURL.appending(path: path) }

    private func image(_ text: String, maxAge: Int = 60) -> FakeResponse {
        .image(Array(text.utf8), type: "image/png").with("Cache-Control", "public, max-age=\(maxAge)")
            .with("ETag", "\"\(text)\"")
    }

    private func loader(
        slots: Int = 4, retries: Int = 0, disk: (any ThumbnailCaching<Thumbnail>)? = nil
    ) -> ThumbnailLoader {
        var configuration = ThumbnailLoader.Configuration()
        configuration.maximumActiveLoads = slots
        configuration.disk = disk
        configuration.retry = RetryPolicy(
            maximumRetries: retries, initialDelay: .seconds(1), maximumDelay: .seconds(4))
        let environment = ThumbnailLoader.Environment(
            now: { [time] in Date(timeIntervalSince1970: Double(time.secondsSince1970)) },
            sleep: { [time] delay in try await time.sleep(until: time.now + delay) }, random: { 0 })
        return ThumbnailLoader(service, configuration: configuration, environment: environment)
    }

    private func pass(seconds: Int) { time.advance(by: .seconds(seconds)) }

    @Test func `a file on disk is shown after a restart without a request, for the rest of its lifetime`() async throws
    {
        let disk = ThumbnailDiskCache(directory: URL(filePath: folder.path))
        origin.serve("/a", image("a"))
        let first = loader(disk: disk)
        #expect(try await first.thumbnail(url("/a")).lifetime == .seconds(60))
        // The disk is written after the response is returned.
        #expect(await eventually { disk.usage > 0 })
        pass(seconds: 20)
        let second = loader(disk: ThumbnailDiskCache(directory: disk.directory))
        let found = try await second.thumbnail(url("/a"))
        #expect(found.data == Data("a".utf8) && found.mediaType == "image/png" && found.lifetime == .seconds(40))
        #expect(second.cached(url("/a")) == found && origin.hits("/a") == 1)
        second.removeAllFromMemory()
        #expect(second.cached(url("/a")) == nil)
        #expect(try await second.thumbnail(url("/a")) == found)
        second.removeCached(url("/a"))
        _ = try await second.thumbnail(url("/a"))
        #expect(origin.hits("/a") == 2)
    }

    @Test(arguments: [true, false])
    func `a stale copy is revalidated with its entity tag, from memory or from disk`(isInMemory: Bool) async throws {
        let disk = ThumbnailDiskCache(directory: URL(filePath: folder.path))
        origin.serve("/a", image("a"))
        let loader = loader(disk: disk)
        _ = try await loader.thumbnail(url("/a"))
        #expect(await eventually { disk.usage > 0 })
        pass(seconds: 60)
        if !isInMemory { loader.removeAllFromMemory() }
        origin.serve("/a", FakeResponse(status: 304).with("ETag", #""a""#).with("Cache-Control", "max-age=7"))
        let found = try await loader.thumbnail(url("/a"))
        #expect(found.data == Data("a".utf8) && found.mediaType == "image/png" && found.lifetime == .seconds(7))
        #expect(origin.requests.map { $0.value("If-None-Match") } == [nil, #""a""#])
        #expect(loader.cached(url("/a")) == found)
        pass(seconds: 7)
        origin.serve("/a", image("b"))
        #expect(try await loader.thumbnail(url("/a")).data == Data("b".utf8))
        #expect(origin.requests.last?.value("If-None-Match") == #""a""#)
    }

    @Test func `a stale copy is shown if the service is unreachable, and the next load retries`() async throws {
        origin.serve("/a", image("a"))
        let loader = loader()
        _ = try await loader.thumbnail(url("/a"))
        pass(seconds: 61)
        origin.serve("/a", .closing)
        let found = try await loader.thumbnail(url("/a"))
        #expect(found.data == Data("a".utf8) && found.lifetime == .zero)
        #expect(loader.cached(url("/a")) == nil)
        origin.serve("/a", .status(502))
        await #expect(throws: ClientError.self) { try await loader.thumbnail(url("/a")) }
    }

    @Test func `progress counts the bytes, and a caller that joins sees the current count`() async throws {
        let gate = Gate()
        origin.serve("/a", image("abcdefgh").held(afterBytes: 3, at: gate))
        let (loader, url) = (loader(), url("/a"))
        var states = await loader.load(url).makeAsyncIterator()
        #expect(try await states.next() == .progress(TransferProgress(completedBytes: 3, totalBytes: 8)))
        var late = await loader.load(url).makeAsyncIterator()
        #expect(try await late.next() == .progress(TransferProgress(completedBytes: 3, totalBytes: 8)))
        gate.open()
        for var iterator in [states, late] {
            var last: ThumbnailLoad.Element?
            while let state = try await iterator.next() { last = state }
            guard case .thumbnail = last else {
                Issue.record("\(String(describing: last))")
                continue
            }
        }
        #expect(TransferProgress(completedBytes: 3, totalBytes: 8).fraction == 0.375)
        #expect(TransferProgress(completedBytes: 3, totalBytes: -1).fraction == nil)
        #expect(TransferProgress(completedBytes: 0, totalBytes: 0).fraction == 1)
    }

    @Test func `a load that is more than half complete is finished without callers, and cached`() async throws {
        let gate = Gate()
        origin.serve("/a", image("abcdefgh").held(afterBytes: 5, at: gate))
        let (loader, url) = (loader(), url("/a"))
        let load = await loader.load(url)
        var states = load.makeAsyncIterator()
        _ = try await states.next()
        await loader.cancel(load.receipt)
        #expect(await loader.activeLoads == 1)
        gate.open()
        #expect(await eventually { await loader.activeLoads == 0 })
        #expect(loader.cached(url)?.data == Data("abcdefgh".utf8) && origin.abandonments("/a") == 0)
        #expect(try await loader.thumbnail(url).data == Data("abcdefgh".utf8) && origin.hits("/a") == 1)
    }

    @Test func `a caller may join a load without other callers`() async throws {
        let gate = Gate()
        origin.serve("/a", image("abcdefgh").held(afterBytes: 5, at: gate))
        let (loader, url) = (loader(), url("/a"))
        let load = await loader.load(url)
        var states = load.makeAsyncIterator()
        _ = try await states.next()
        await loader.cancel(load.receipt)
        let late = await loader.load(url)
        gate.open()
        #expect(try await late.thumbnail.data == Data("abcdefgh".utf8) && origin.hits("/a") == 1)
    }

    @Test func `a load that is at most half complete is canceled with its last caller`() async throws {
        let gate = Gate()
        origin.serve("/a", image("abcdefgh").held(afterBytes: 4, at: gate))
        let loader = loader()
        let load = await loader.load(url("/a"))
        var states = load.makeAsyncIterator()
        _ = try await states.next()
        await loader.cancel(load.receipt)
        #expect(await eventually { await loader.activeLoads == 0 })
        gate.open()
        #expect(loader.cached(url("/a")) == nil)
    }

    @Test func `a load of higher priority starts first`() async throws {
        let gate = Gate()
        for path in ["/0", "/1", "/2", "/3"] { origin.serve(path, image("x").held(at: gate)) }
        let loader = loader(slots: 1)
        var loads = [await loader.load(url("/0"))]
        for (path, priority) in [("/1", ThumbnailLoader.Priority.low), ("/2", .normal), ("/3", .low)] {
            loads.append(await loader.load(url(path), priority: priority))
        }
        await loader.setPriority(.high, of: loads[3].receipt)
        gate.open()
        for load in loads { _ = try await load.thumbnail }
        #expect(origin.requests.map(\.target) == ["/0", "/3", "/2", "/1"])
    }

    @Test func `a failed load is retried after its delay, during which its slot is free`() async throws {
        origin.serve("/a", .status(503))
        origin.serve("/b", image("b"))
        let loader = loader(slots: 1, retries: 2)
        let load = await loader.load(url("/a"))
        await time.nextWaking(at: .seconds(1))
        #expect(await loader.activeLoads == 0)
        #expect(try await loader.thumbnail(url("/b")).data == Data("b".utf8))
        pass(seconds: 1)
        await time.nextWaking(at: .seconds(3))
        origin.serve("/a", image("a"))
        pass(seconds: 2)
        #expect(try await load.thumbnail.data == Data("a".utf8))
        #expect(origin.hits("/a") == 3)
    }

    @Test func `the callers get the last failure, and a canceled wait ends the attempts`() async throws {
        origin.serve("/a", .status(503))
        origin.serve("/b", .status(503))
        let loader = loader(retries: 1)
        let (first, second) = (await loader.load(url("/a")), await loader.load(url("/b")))
        await time.sleepers(2)
        await loader.cancel(second.receipt)
        await time.sleepers(1)
        pass(seconds: 1)
        await #expect { try await first.thumbnail } throws: {
            if case ClientError.unexpected(503, _) = $0 { true } else { false }
        }
        #expect(origin.hits("/a") == 2 && origin.hits("/b") == 1)
        // A permanent error is not retried.
        origin.serve("/c", .status(404))
        await #expect(throws: ClientError.self) { try await loader.thumbnail(url("/c")) }
        #expect(origin.hits("/c") == 1 && time.sleeperCount == 0)
    }

    @Test func `prefetched thumbnails are in memory when needed, and leave slots for others`() async throws {
        let gate = Gate()
        let urls = (0..<4).map { url("/\($0)") }
        for path in ["/0", "/1", "/2", "/3"] { origin.serve(path, image("x").held(at: gate)) }
        origin.serve("/now", image("now"))
        let loader = loader()
        let prefetcher = ThumbnailPrefetcher(loader)
        prefetcher.startPrefetching(urls)
        prefetcher.startPrefetching(urls)
        await gate.arrivals(2)
        #expect(try await loader.thumbnail(url("/now")).data == Data("now".utf8))
        #expect(await eventually { await loader.queuedLoads == 2 })
        #expect(origin.highestParallelism <= 3)
        gate.open()
        #expect(await eventually { urls.allSatisfy { loader.cached($0) != nil } })
        #expect(origin.hits == 5)
    }

    @Test func `a stopped prefetch is canceled, as is one whose prefetcher ends`() async throws {
        origin.serve("/a", .silence)
        origin.serve("/b", .silence)
        let loader = loader()
        var prefetcher: ThumbnailPrefetcher? = ThumbnailPrefetcher(loader)
        prefetcher?.startPrefetching([url("/a"), url("/b")])
        await origin.reachedHits(2)
        prefetcher?.stopPrefetching([url("/a")])
        await origin.abandonment(of: "/a")
        #expect(origin.abandonments("/b") == 0)
        prefetcher = nil
        await origin.abandonment(of: "/b")
        #expect(await eventually { await loader.activeLoads == 0 })
    }

    @Test func `a load that two tasks read ends for both`() async throws {
        let gate = Gate()
        origin.serve("/a", image("a").held(at: gate))
        let load = await loader().load(url("/a"))
        let readers = (0..<2).map { _ in
            Task { () -> Int in
                var count = 0
                for try await _ in load { count += 1 }
                return count
            }
        }
        gate.open()
        var count = 0
        for reader in readers { count += try await reader.value }
        #expect(count >= 1)
    }

    @Test(arguments: ["missing", "folder", "https"])
    func `an unreadable file is an error before anything is sent`(kind: String) async throws {
        let file =
            switch kind {
            case "missing": URL(filePath: folder.path).appending(path: "missing")
            case "folder": URL(filePath: folder.path)
            default: try #require(URL(string: "https://a.example/a.jpg"))
            }
        await #expect { try await service.thumbnails(ofFile: file, [.info()]) } throws: {
            if case ClientError.unreadableFile(file) = $0 { true } else { false }
        }
        #expect(origin.hits == 0)
    }
}
