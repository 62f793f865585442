import Coordination
import Downloading
import TestSupport
import Testing

/// Which ends of transfers suspend an origin, and whom that concerns.
@Suite(.timeLimit(.minutes(1)))
struct GuardedLoaderTests {
    private let stub = StubLoader(isHolding: false)
    private let time = ManualTimekeeper()
    private let loader: GuardedLoader

    init() {
        loader = GuardedLoader(stub, timekeeper: time)
    }

    private func load(_ host: String = "example.com") async throws {
        _ = try await loader.load(
            TransferRequest(identity: .path("/a", host: host)), progress: TransferProgress())
    }

    private func fail(_ count: Int, with error: DownloadError) async {
        stub.fail(with: error)
        for _ in 0..<count { await #expect(throws: error) { try await load() } }
        stub.fail(with: nil)
    }

    @Test(arguments: [
        DownloadError.unreachable("refused"), .timedOut, .tls("expired"), .protocolError("cut short"), .status(500),
        .status(503),
    ])
    func `an origin that keeps failing is left alone, and nobody else`(error: DownloadError) async throws {
        await fail(5, with: error)
        let before = stub.started.count
        await #expect(throws: DownloadError.originSuspended(seconds: 5)) { try await load() }
        time.advance(by: .milliseconds(1_500))
        await #expect(throws: DownloadError.originSuspended(seconds: 4)) { try await load() }
        #expect(stub.started.count == before)
        try await load("example.org")
        try await load("example.com:8080")
        time.advance(by: .milliseconds(3_500))
        try await load()
        try await load()
    }

    @Test(arguments: [
        DownloadError.tooLarge, .sourceNotAllowed, .receiptCancelled, .queueFull, .shuttingDown, .internal("memory"),
        .originSuspended(seconds: 1),
    ])
    func `our own limits never count`(error: DownloadError) async throws {
        await fail(4, with: .timedOut)
        await fail(100, with: error)
        try await load()
        #expect(loader.originHealth.suspensions == 0)
    }

    @Test(arguments: [
        DownloadError.notFound(404), .status(403), .status(429), .notAsked("status 206"), .notAnImage("text/html"),
        .emptyBody, .tooManyRedirects,
    ])
    func `what an origin says about one source does not count against it`(error: DownloadError) async throws {
        await fail(4, with: .timedOut)
        await fail(100, with: error)
        await fail(4, with: .timedOut)
        try await load()
    }

    @Test func `cancellations never count, a probe's neither`() async throws {
        let holding = StubLoader()
        let loader = GuardedLoader(holding, timekeeper: time)
        func begin() -> Task<TransferAnswer, any Error> {
            Task {
                try await loader.load(TransferRequest(identity: .path("/a")), progress: TransferProgress())
            }
        }
        for count in 1...10 {
            let task = begin()
            await holding.starts(count)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(loader.originHealth.origins.map(\.isReachable) == [nil])
        holding.fail(with: .timedOut)
        for _ in 0..<5 { await #expect(throws: DownloadError.timedOut) { try await begin().value } }
        holding.fail(with: nil)
        time.advance(by: .seconds(5))
        let probe = begin()
        await holding.starts(16)
        await #expect(throws: DownloadError.originSuspended(seconds: 1)) { try await begin().value }
        probe.cancel()
        await #expect(throws: CancellationError.self) { try await probe.value }
        let next = begin()
        await holding.starts(17)
        holding.release("/a")
        _ = try await next.value
        #expect(loader.originHealth.origins.map(\.isSuspended) == [false])
    }

    @Test func `a failure behind a redirect is that of the place where it happened`() async throws {
        let broken = try FakeOrigin(address: "127.0.0.2")
        let fixture = try LoaderFixture()
        let loader = GuardedLoader(fixture.loader, timekeeper: time)
        fixture.origin.serve("/moved", .redirect(to: broken.url("/a")))
        fixture.origin.serve("/good", .image([1]))
        broken.serve("/a", .status(500))
        func load(_ url: String) async throws {
            _ = try await loader.load(try fixture.request(url), progress: TransferProgress())
        }
        for _ in 0..<5 {
            await #expect(throws: DownloadError.status(500)) { try await load(fixture.origin.url("/moved")) }
        }
        try await load(fixture.origin.url("/good"))
        await #expect(throws: DownloadError.originSuspended(seconds: 5)) { try await load(broken.url("/a")) }
        #expect(broken.hits == 5)
    }

    @Test func `a redirect to a suspended origin goes no further, and speaks for who sent it`() async throws {
        let broken = try FakeOrigin(address: "127.0.0.2")
        let fixture = try LoaderFixture()
        let loader = GuardedLoader(fixture.loader, timekeeper: time)
        broken.serve("/a", .status(500))
        broken.serve("/there", .redirect(to: fixture.origin.url("/good")))
        fixture.origin.serve("/moved", .redirect(to: broken.url("/a")))
        fixture.origin.serve("/around", .redirect(to: broken.url("/there")))
        fixture.origin.serve("/good", .image([1]))
        func load(_ url: String) async throws {
            _ = try await loader.load(try fixture.request(url), progress: TransferProgress())
        }
        for _ in 0..<5 { await #expect(throws: DownloadError.status(500)) { try await load(broken.url("/a")) } }
        let (hits, connections) = (broken.hits, broken.connectionCount)
        for _ in 0..<10 {
            await #expect(throws: DownloadError.originSuspended(seconds: 5)) {
                try await load(fixture.origin.url("/moved"))
            }
        }
        #expect(broken.hits == hits)
        #expect(broken.connectionCount == connections)
        let known = loader.originHealth.origins.filter { !$0.isSuspended }
        #expect(known.map(\.isReachable) == [true])
        // The first to come after the suspension is the probe, by whatever way it comes.
        time.advance(by: .seconds(5))
        try await load(fixture.origin.url("/around"))
        #expect(loader.originHealth.origins.allSatisfy { !$0.isSuspended })
        #expect(broken.hits == hits + 1)
    }

    @Test func `a suspended origin fails all who share a flight, and takes no slot`() async throws {
        await fail(5, with: .timedOut)
        let downloader = ImageDownloader(
            configuration: DownloadConfiguration(), loader: loader, cache: StubCache(), timekeeper: time)
        let tasks = (0..<50).map { _ in downloader.begin("/a") }
        for task in tasks {
            await #expect(throws: DownloadError.originSuspended(seconds: 5)) { try await task.value }
        }
        #expect(await eventually { downloader.activeRequestCount == 0 })
        #expect(stub.started.count == 5)
    }
}
