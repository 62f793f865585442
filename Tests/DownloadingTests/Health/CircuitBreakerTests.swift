import Coordination
import Downloading
import TestSupport
import Testing

/// Results of transfers that suspend an origin, and the requests that this affects.
@Suite(.timeLimit(.minutes(1)))
struct GuardedLoaderTests {
    private let stub = StubLoader(isHolding: false)
    private let time = ManualTimekeeper()
    private let loader: CircuitBreaker

    init() {
        loader = CircuitBreaker(stub, timekeeper: time)
    }

    private func load(_ path: String = "/a", host: String = "example.com") async throws {
        _ = try await loader.load(
            TransferRequest(identity: .path(path, host: host)), progress: TransferProgress())
    }

    /// Makes transfers of this number of URLs fail.
    private func fail(_ count: Int, with error: DownloadError, afterHead: Bool = false) async {
        stub.fail(with: error, afterHead: afterHead)
        for number in 0..<count { await #expect(throws: error) { try await load("/fail\(number)") } }
        stub.fail(with: nil)
    }

    @Test(arguments: [DownloadError.unreachable("refused"), .timedOut, .tls("expired")])
    func `an origin without a response is suspended, and no other`(error: DownloadError) async throws {
        await fail(5, with: error)
        let before = stub.started.count
        await #expect(throws: DownloadError.originSuspended(seconds: 5)) { try await load() }
        time.advance(by: .milliseconds(1_500))
        await #expect(throws: DownloadError.originSuspended(seconds: 4)) { try await load() }
        #expect(stub.started.count == before)
        try await load(host: "example.org")
        try await load(host: "example.com:8080")
        time.advance(by: .milliseconds(3_500))
        try await load()
        try await load()
    }

    @Test func `a held origin is not contacted until it is resumed`() async throws {
        let changes = Locked<[Bool]>([])
        let loader = CircuitBreaker(stub, timekeeper: time) { origin in changes.withLock { $0.append(origin.isHeld) } }
        let request = TransferRequest(identity: .path("/a"))
        let origin = request.identity.url.origin
        for _ in 0..<2 { loader.setHeld(true, origin: origin) }
        await #expect(throws: DownloadError.originHeld) {
            _ = try await loader.load(request, progress: TransferProgress())
        }
        #expect(stub.started.isEmpty)
        #expect(loader.originHealth.origins.map(\.isHeld) == [true])
        _ = try await loader.load(
            TransferRequest(identity: .path("/a", host: "example.org")), progress: TransferProgress())
        loader.setHeld(false, origin: origin)
        _ = try await loader.load(request, progress: TransferProgress())
        #expect(stub.started.count == 2 && changes.withLock { $0.first } == true)
        #expect(loader.originHealth.suspensions == 0)
    }

    @Test(arguments: [DownloadError.unreachable("reset"), .timedOut, .protocolError("cut short")])
    func `a truncated response does not count against its origin`(error: DownloadError) async throws {
        await fail(100, with: error, afterHead: true)
        try await load()
        #expect(loader.originHealth.suspensions == 0)
    }

    @Test func `an origin that returns only 5xx is suspended`() async throws {
        await fail(19, with: .status(503))
        #expect(loader.originHealth.suspensions == 0)
        await fail(1, with: .status(500))
        await #expect(throws: DownloadError.originSuspended(seconds: 5)) { try await load() }
    }

    @Test(arguments: [
        DownloadError.tooLarge, .sourceNotAllowed(""), .noAddress("name"), .receiptCanceled, .queueFull, .shuttingDown,
        .internal("memory"), .originSuspended(seconds: 1),
    ])
    func `local limits never count`(error: DownloadError) async throws {
        await fail(4, with: .timedOut)
        await fail(100, with: error)
        try await load()
        #expect(loader.originHealth.suspensions == 0)
    }

    @Test(arguments: [
        DownloadError.notFound(404), .status(403), .status(429), .unexpectedResponse("status 206"),
        .notAnImage("text/html"), .emptyBody, .tooManyRedirects,
    ])
    func `an origin's response about one source does not count against the origin`(error: DownloadError) async throws {
        await fail(4, with: .timedOut)
        await fail(100, with: error)
        await fail(4, with: .timedOut)
        try await load()
    }

    @Test(arguments: [DownloadError.status(503), .timedOut, .unreachable("reset")])
    func `failing URLs do not suspend an origin while a known source still works`(error: DownloadError) async throws {
        try await load("/good")
        time.advance(by: .seconds(10))
        for number in 0..<500 {
            stub.fail("/\(number)", with: error)
            await #expect(throws: error) { try await load("/\(number)") }
        }
        try await load("/other")
        #expect(loader.originHealth.suspensions == 0)
        #expect(Set(stub.signsOfLife) == ["/good"])
        #expect(stub.signsOfLife.count <= 100)
    }

    @Test func `an unreachable origin is suspended, and resumed, by tests of a known source`() async throws {
        try await load("/good")
        await fail(5, with: .timedOut)
        #expect(stub.signsOfLife == ["/good"])
        await #expect(throws: DownloadError.originSuspended(seconds: 5)) { try await load("/other") }
        time.advance(by: .seconds(5))
        stub.fail("/mine", with: .timedOut)
        await #expect(throws: DownloadError.timedOut) { try await load("/mine") }
        try await load("/other")
        #expect(stub.signsOfLife == ["/good", "/good"])
    }

    @Test func `a hanging known source does not affect the others`() async throws {
        for path in ["/hangs", "/good", "/also-good"] { try await load(path) }
        stub.fail("/hangs", with: .timedOut)
        for number in 0..<5 {
            stub.fail("/\(number)", with: .timedOut)
            await #expect(throws: DownloadError.timedOut) { try await load("/\(number)") }
        }
        #expect(stub.signsOfLife.first == "/hangs" && stub.signsOfLife.contains("/good"))
        #expect(loader.originHealth.suspensions == 0)
        try await load("/other")
    }

    @Test func `a test continues after the caller that raised the suspicion has left`() async throws {
        let holding = StubLoader()
        let loader = CircuitBreaker(holding, timekeeper: time)
        func begin(_ path: String) -> Task<TransferResult, any Error> {
            Task { try await loader.load(TransferRequest(identity: .path(path)), progress: TransferProgress()) }
        }
        let good = begin("/good")
        await holding.starts(1)
        holding.release("/good")
        _ = try await good.value
        holding.fail(with: .timedOut)
        for number in 0..<5 {
            await #expect(throws: DownloadError.timedOut) { try await begin("/\(number)").value }
        }
        #expect(loader.originHealth.origins.map(\.isSuspended) == [true])
        time.advance(by: .seconds(5))
        holding.fail(with: nil)
        let gate = holding.holdSignsOfLife()
        let mine = begin("/mine")
        await gate.arrivals(1)
        mine.cancel()
        await #expect(throws: DownloadError.originSuspended(seconds: 1)) { try await begin("/other").value }
        gate.open()
        await #expect(throws: CancellationError.self) { try await mine.value }
        #expect(loader.originHealth.origins.map(\.isSuspended) == [false])
    }

    @Test func `cancellations never count, not even a probe's`() async throws {
        let holding = StubLoader()
        let loader = CircuitBreaker(holding, timekeeper: time)
        func begin(_ path: String = "/a") -> Task<TransferResult, any Error> {
            Task {
                try await loader.load(TransferRequest(identity: .path(path)), progress: TransferProgress())
            }
        }
        for count in 1...10 {
            let task = begin()
            await holding.starts(count)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(loader.originHealth.origins.isEmpty, "nothing is known of it")
        holding.fail(with: .timedOut)
        for number in 0..<5 { await #expect(throws: DownloadError.timedOut) { try await begin("/\(number)").value } }
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

    @Test func `a failure after a redirect counts against the origin where it happened`() async throws {
        let broken = try FakeOrigin(address: "127.0.0.2")
        let fixture = try LoaderFixture()
        let loader = CircuitBreaker(fixture.loader, timekeeper: time)
        for number in 0..<5 {
            fixture.origin.serve("/moved\(number)", .redirect(to: broken.url("/\(number)")))
            broken.serve("/\(number)", .closing)
        }
        fixture.origin.serve("/good", .image([1]))
        func load(_ url: String) async throws {
            _ = try await loader.load(try fixture.request(url), progress: TransferProgress())
        }
        for number in 0..<5 {
            await #expect { try await load(fixture.origin.url("/moved\(number)")) } throws: { isUnreachable($0) }
        }
        try await load(fixture.origin.url("/good"))
        await #expect(throws: DownloadError.originSuspended(seconds: 5)) { try await load(broken.url("/a")) }
        #expect(broken.hits == 5)
    }

    @Test func `a redirect to a suspended origin is not followed, and its sender counts as alive`() async throws {
        let broken = try FakeOrigin(address: "127.0.0.2")
        let fixture = try LoaderFixture()
        let loader = CircuitBreaker(fixture.loader, timekeeper: time)
        for number in 0..<5 { broken.serve("/\(number)", .closing) }
        broken.serve("/there", .redirect(to: fixture.origin.url("/good")))
        fixture.origin.serve("/moved", .redirect(to: broken.url("/a")))
        fixture.origin.serve("/around", .redirect(to: broken.url("/there")))
        fixture.origin.serve("/good", .image([1]))
        func load(_ url: String) async throws {
            _ = try await loader.load(try fixture.request(url), progress: TransferProgress())
        }
        for number in 0..<5 {
            await #expect { try await load(broken.url("/\(number)")) } throws: { isUnreachable($0) }
        }
        let (hits, connections) = (broken.hits, broken.connectionCount)
        for _ in 0..<10 {
            await #expect(throws: DownloadError.originSuspended(seconds: 5)) {
                try await load(fixture.origin.url("/moved"))
            }
        }
        #expect(broken.hits == hits)
        #expect(broken.connectionCount == connections)
        let storedCopy = loader.originHealth.origins.filter { !$0.isSuspended }
        #expect(storedCopy.map(\.isReachable) == [true])
        // The first request after the suspension is the probe, even through a redirect.
        time.advance(by: .seconds(5))
        try await load(fixture.origin.url("/around"))
        #expect(loader.originHealth.origins.allSatisfy { !$0.isSuspended })
        #expect(broken.hits == hits + 1)
    }

    @Test func `a suspended origin fails all callers of a fetch, and takes no slot`() async throws {
        await fail(5, with: .timedOut)
        let downloader = ImageDownloader(
            rules: DownloadRules(DownloadConfiguration()), loader: loader, cache: StubCache(), timekeeper: time)
        let tasks = (0..<50).map { _ in downloader.begin("/a") }
        for task in tasks {
            await #expect(throws: DownloadError.originSuspended(seconds: 5)) { try await task.value }
        }
        #expect(downloader.activeRequestCount == 0)
        #expect(stub.started.count == 5)
    }
}
