import Coordination
import Downloading
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// Downloads shared by callers of one URL, and callers that leave.
@Suite(.timeLimit(.minutes(1)))
struct ImageDownloaderTests {
    private let loader = StubLoader()
    private let cache = StubCache()
    /// Counts transfers that have ended and released their slots.
    private let ends = EventCounter()

    @Test(arguments: [2, 200])
    func `simultaneous requests for one URL make one transfer`(count: Int) async throws {
        let collapsed = Atomic(0)
        let downloader = ImageDownloader(
            rules: DownloadRules(DownloadConfiguration()), loader: loader, cache: cache, timekeeper: ManualTimekeeper(),
            observer: DownloadObserver(onCollapse: { collapsed.wrappingAdd(1, ordering: .relaxed) }))
        let tasks = (0..<count).map { downloader.begin("/a", receipt: "\($0)") }
        await loader.starts(1)
        loader.release("/a")
        var participations: [Participation] = []
        for task in tasks {
            let copy = try await task.value
            #expect(copy.text == "/a")
            participations.append(copy.participation)
        }
        #expect(participations == [.started] + Array(repeating: .joined, count: count - 1))
        #expect(collapsed.load(ordering: .relaxed) == count - 1)
        #expect(loader.started == ["/a"])
        #expect(cache.storeCount == 1)
    }

    @Test func `a cached source makes no transfer`() async throws {
        let cache = StubCache(keeps: true)
        cache.store(.stub(.path("/a")))
        let downloader = downloader(cache: cache)
        #expect(try await downloader.begin("/a").value.participation == .cached)
        #expect(loader.started.isEmpty)
        #expect(downloader.activeRequestCount == 0)
    }

    @Test func `a receipt cancels one caller only`() async throws {
        let downloader = downloader()
        let first = downloader.begin("/a", receipt: "one")
        let second = downloader.begin("/a", receipt: "two")
        #expect(downloader.fetches.map(\.receipts) == [["one", "two"]])
        #expect(downloader.cancel(receipt: "one"))
        await #expect(throws: DownloadError.receiptCanceled) { try await first.value }
        #expect(!downloader.cancel(receipt: "one"))
        #expect(!downloader.cancel(receipt: "unknown"))
        await loader.starts(1)
        loader.release("/a")
        #expect(try await second.value.text == "/a")
        #expect(!downloader.cancel(receipt: "two"))
        #expect(loader.started == ["/a"])
        #expect(loader.cancellations == 0)
    }

    @Test(arguments: [SourceIdentity.path("/a"), nil])
    func `a fetch in progress when its source is removed is neither stored nor joined`(
        removed: SourceIdentity?
    ) async throws {
        let cache = StubCache(keeps: true)
        let downloader = downloader(cache: cache)
        let early = downloader.begin("/a")
        await loader.starts(1)
        downloader.forget(removed)
        let late = downloader.begin("/a")
        await loader.starts(2)
        loader.release("/a")
        #expect(try await early.value.text == "/a")
        #expect(cache.storeCount == 0)
        loader.release("/a")
        #expect(try await late.value.participation == .started)
        #expect(cache.storeCount == 1)
        #expect(downloader.fetches.isEmpty)
        #expect(downloader.activeRequestCount == 0)
    }

    @Test func `the transfer ends without caching when the last caller leaves`() async throws {
        let downloader = downloader()
        let tasks = [downloader.begin("/a"), downloader.begin("/a")]
        await loader.starts(1)
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        #expect(loader.running == ["/a"])
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        await ends.reached(1)
        #expect(loader.running.isEmpty && downloader.activeRequestCount == 0)
        #expect(cache.storeCount == 0)
        #expect(downloader.fetches.isEmpty)
    }

    @Test func `past half of the announced bytes the transfer finishes and is cached`() async throws {
        let downloader = downloader()
        let task = downloader.begin("/a")
        await loader.starts(1)
        loader.report("/a", received: 50, expected: 100)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(downloader.fetches.map(\.receipts) == [[]])
        let late = downloader.begin("/a")
        loader.release("/a")
        #expect(try await late.value.participation == .joined)
        #expect(cache.storeCount == 1)
        #expect(loader.cancellations == 0)
    }

    @Test func `just below half, or without an announced length, it is canceled`() async throws {
        for expected in [101, nil] {
            let loader = StubLoader()
            let downloader = downloader(loader: loader)
            let task = downloader.begin("/a")
            await loader.starts(1)
            loader.report("/a", received: 50, expected: expected)
            task.cancel()
            await loader.cancellations(1)
            #expect(loader.running.isEmpty)
        }
        #expect(cache.storeCount == 0)
    }

    @Test func `the other callers succeed without a second transfer if the first one leaves`() async throws {
        let downloader = downloader()
        let tasks = (0..<3).map { downloader.begin("/a", receipt: "\($0)") }
        await loader.starts(1)
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        loader.release("/a")
        for task in tasks[1...] { #expect(try await task.value.text == "/a") }
        #expect(loader.started == ["/a"])
    }

    @Test func `a cancellation never reaches a later caller of the same URL`() async throws {
        var configuration = DownloadConfiguration()
        configuration.maximumActiveDownloads = 1
        let loader = StubLoader(isHolding: false)
        let downloader = downloader(configuration, loader: loader)
        let paths = (0..<5).map { "/\($0)" }
        for round in 0..<1_000 {
            let cancelled = paths.map { downloader.begin($0) }
            for task in cancelled { task.cancel() }
            let wanted = paths.map { downloader.begin($0) }
            for (path, task) in zip(paths, wanted) {
                let text = try await task.value.text
                #expect(text == path, "round \(round)")
            }
            for task in cancelled { _ = await task.result }
        }
        #expect(
            await eventually {
                downloader.activeRequestCount == 0 && downloader.queuedRequestCount == 0
            })
        #expect(loader.highestParallelism == 1)
    }

    @Test func `five running or waiting requests are all canceled, and their successors succeed`() async throws {
        var configuration = DownloadConfiguration()
        configuration.maximumActiveDownloads = 1
        let loader = StubLoader(keepsCancelled: true)
        let downloader = downloader(configuration, loader: loader)
        let paths = (0..<5).map { "/\($0)" }
        let cancelled = paths.map { downloader.begin($0) }
        await loader.starts(1)
        for task in cancelled { task.cancel() }
        for task in cancelled { await #expect(throws: CancellationError.self) { try await task.value } }
        let wanted = paths.map { downloader.begin($0) }
        #expect(downloader.activeRequestCount == 1)
        #expect(downloader.queuedRequestCount == 5)
        // The canceled transfer ends late and only now releases its slot.
        loader.releaseAll()
        for (path, task) in zip(paths, wanted) { #expect(try await task.value.text == path) }
        #expect(loader.started == ["/0"] + paths)
    }

    @Test func `no request falls between the end of a transfer and its cache entry`() async throws {
        let cache = StubCache(keeps: true)
        let loader = StubLoader(isHolding: false)
        let downloader = downloader(loader: loader, cache: cache)
        for round in 1...10_000 {
            async let first = downloader.download(.init(identity: .path("/a")), receipt: "")
            async let second = downloader.download(.init(identity: .path("/a")), receipt: "")
            _ = try await (first, second)
            #expect(loader.started.count == round)
            cache.removeAll()
        }
    }

    @Test func `an error is shared by all, remembered for a while, and then the origin is contacted again`()
        async throws
    {
        let clock = ManualTimekeeper()
        let downloader = downloader(clock: clock)
        let tasks = (0..<50).map { downloader.begin("/a", receipt: "\($0)") }
        await loader.starts(1)
        loader.release("/a", .status(503))
        for task in tasks { await #expect(throws: DownloadError.status(503)) { try await task.value } }
        clock.advance(by: .milliseconds(4_999))
        await #expect(throws: DownloadError.status(503)) { try await downloader.begin("/a").value }
        #expect(loader.started == ["/a"])
        clock.advance(by: .milliseconds(1))
        let next = downloader.begin("/a")
        await loader.starts(2)
        loader.release("/a")
        #expect(try await next.value.participation == .started)
        #expect(cache.storeCount == 1)
    }

    @Test func `one URL under two origin names is two sources`() async throws {
        let downloader = downloader()
        let url = SourceIdentity.path("/a").url
        let tasks = ["one", "two"].map { Origin(name: $0, location: .web(base: url)) }.map { origin in
            Task.immediate {
                try await downloader.download(
                    .init(identity: SourceIdentity(url: url, rules: .of(origin))), receipt: origin.name)
            }
        }
        await loader.starts(2)
        loader.releaseAll()
        for task in tasks { #expect(try await task.value.participation == .started) }
    }

    @Test func `after the shutdown callers are rejected, and waiters are notified`() async throws {
        let downloader = downloader()
        let task = downloader.begin("/a")
        await loader.starts(1)
        downloader.shutDown()
        await #expect(throws: DownloadError.shuttingDown) { try await task.value }
        await #expect(throws: DownloadError.shuttingDown) { try await downloader.begin("/b").value }
        await ends.reached(1)
        #expect(downloader.activeRequestCount == 0)
        #expect(loader.cancellations == 1)
    }

    @Test func `a caller canceled before its request is not admitted`() async throws {
        let downloader = downloader()
        let gate = Gate()
        let task = Task {
            await gate.pass()
            return try await downloader.download(.init(identity: .path("/a")), receipt: "")
        }
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(loader.started.isEmpty)
    }

    private func downloader(
        _ configuration: DownloadConfiguration = DownloadConfiguration(), loader: StubLoader? = nil,
        cache: StubCache? = nil, clock: ManualTimekeeper = ManualTimekeeper()
    ) -> ImageDownloader {
        ImageDownloader(
            rules: DownloadRules(configuration), loader: loader ?? self.loader, cache: cache ?? self.cache,
            timekeeper: clock, observer: DownloadObserver(onFinish: { [ends] _ in ends.increment() }))
    }
}

extension ImageDownloader {
    /// Starts a download; the caller is admitted when this returns.
    func begin(
        _ path: String, host: String = "example.com", receipt: String = "", deadline: Duration? = nil,
        cacheControl: String? = nil
    ) -> Task<SourceCopy, any Error> {
        Task.immediate {
            try await download(
                SourceRequest(identity: .path(path, host: host), directives: RequestCacheControl(cacheControl)),
                receipt: receipt, deadline: deadline)
        }
    }
}
