import Coordination
import Downloading
import Memory
import TestSupport
import Testing
import Text

/// Responses of a hostile or broken origin, for one caller and for fifty.
@Suite(.timeLimit(.minutes(1)))
struct HostileOriginTests {
    enum Expected: Sendable {
        case error(DownloadError)
        case protocolError
        case unreachable
        case denied(String)

        var isTimeout: Bool { if case .error(.timedOut) = self { true } else { false } }

        func matches(_ error: any Error) -> Bool {
            switch self {
            case .error(let expected): error as? DownloadError == expected
            case .protocolError: isProtocolError(error)
            case .unreachable: isUnreachable(error)
            case .denied(let rule): isDenied(error, by: rule)
            }
        }
    }

    static let png = FakeResponse.image(bytes(100), type: "image/png")

    static let faults: [(name: String, answer: FakeResponse, expected: Expected)] = [
        ("reset before the head", .reset, .unreachable),
        ("closed before the head", .closing, .unreachable),
        ("HTTP/0.9", .raw("<html>\n"), .protocolError),
        ("status 000", .raw("HTTP/1.1 000 Zero\r\nContent-Length: 1\r\n\r\na"), .protocolError),
        ("status 999", .raw("HTTP/1.1 999 Nine\r\nContent-Length: 1\r\n\r\na"), .protocolError),
        ("NUL in a field", .raw("HTTP/1.1 200 OK\r\nA: b\0c\r\nContent-Length: 1\r\n\r\na"), .protocolError),
        ("folded field", .raw("HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 1\r\n\r\na"), .protocolError),
        (
            "too many lines",
            .raw("HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 101) + "Content-Length: 1\r\n\r\na"),
            .protocolError
        ),
        (
            "too long a head",
            .raw(
                "HTTP/1.1 200 OK\r\n" + String(repeating: "A: \(String(repeating: "b", count: 7000))\r\n", count: 10)
                    + "Content-Length: 1\r\n\r\na"), .protocolError
        ),
        (
            "a line of 200 kB", .raw("HTTP/1.1 200 OK\r\nA: \(String(repeating: "b", count: 200_000))\r\n"),
            .protocolError
        ),
        ("a status line of 200 kB", .raw("HTTP/1.1 200 \(String(repeating: "b", count: 200_000))\r\n"), .protocolError),
        ("a field without a colon", .raw("HTTP/1.1 200 OK\r\nfield\r\nContent-Length: 1\r\n\r\na"), .protocolError),
        (
            "a first field that is folded", .raw("HTTP/1.1 200 OK\r\n A: b\r\nContent-Length: 1\r\n\r\na"),
            .protocolError
        ),
        ("a field without a name", .raw("HTTP/1.1 200 OK\r\n: b\r\nContent-Length: 1\r\n\r\na"), .protocolError),
        ("HTTP/3 over TCP", .raw("HTTP/3.0 200 OK\r\nContent-Length: 1\r\n\r\na"), .protocolError),
        ("HTTP/2 over TCP", .raw("HTTP/2 200\r\nContent-Length: 1\r\n\r\na"), .protocolError),
        ("a length beyond numbers", png.with("Content-Length", "99999999999999999999"), .protocolError),
        (
            "a trailer of 200 kB",
            .raw(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: "
                    + String(repeating: "b", count: 200_000) + "\r\n\r\n"), .protocolError
        ),
        (
            "six content codings",
            png.with("Content-Encoding", "gzip, gzip, gzip, gzip, gzip, gzip"), .protocolError
        ),
        (
            "nine interim answers",
            .raw(
                String(repeating: "HTTP/1.1 103 Early\r\n\r\n", count: 9)
                    + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"),
            .protocolError
        ),
        ("negative length", .raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\na"), .protocolError),
        ("two lengths", .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na"), .protocolError),
        (
            "length and chunks",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
            .protocolError
        ),
        ("bad chunk", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\na\r\n"), .protocolError),
        ("chunks cut short", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\na"), .protocolError),
        ("body cut short", png.cut(afterBytes: 50), .protocolError),
        ("reset in the body", png.reset(afterBytes: 50), .protocolError),
        ("content coding", png.with("Content-Encoding", "gzip"), .protocolError),
        ("announced too large", .image(bytes(1 << 20)), .error(.tooLarge)),
        ("chunked too large", .image(bytes(1 << 20)).framed(by: .chunked), .error(.tooLarge)),
        ("too large to the end", .image(bytes(1 << 20)).framed(by: .close), .error(.tooLarge)),
        ("empty", .image([]), .error(.emptyBody)),
        ("empty to the end", FakeResponse.image([]).framed(by: .close), .error(.emptyBody)),
        ("204", .status(204), .error(.emptyBody)),
        ("206", .status(206), .protocolError),
        ("304", .status(304), .protocolError),
        ("redirect without target", .status(302), .protocolError),
        ("401", .status(401), .error(.status(401))),
        ("429", .status(429), .error(.status(429))),
        ("503", .status(503), .error(.status(503))),
        ("404 with a picture", FakeResponse(status: 404, fields: png.fields, body: png.body), .error(.notFound(404))),
        ("410", .status(410), .error(.notFound(410))),
        ("500 with a large picture", FakeResponse(status: 500, body: bytes(1 << 20)), .error(.status(500))),
        ("HTML", .image(bytes(10), type: "text/html"), .error(.notAnImage("text/html"))),
        ("redirect to itself", .redirect(to: "/fault"), .error(.tooManyRedirects)),
        ("redirect to a file", .redirect(to: "file:///etc/passwd"), .denied("redirects")),
        ("redirect to a private network", .redirect(to: "http://169.254.169.254/"), .denied("allowedNetworks")),
        ("redirect to a hidden address", .redirect(to: "http://2852039166/"), .denied("redirects")),
        ("silence", .silence, .error(.timedOut)),
        ("drip", .image(bytes(100)).dripping(1, every: .milliseconds(20)), .error(.timedOut)),
        ("dripping head", .raw("HTTP/1.1 200 OK\r\n"), .unreachable),
    ]

    @Test(arguments: 0..<faults.count)
    func `a fault is the same for one caller and for fifty, without lasting effects`(index: Int) async throws {
        let (name, answer, expected) = Self.faults[index]
        // With a manual clock only the faulty transfer can exceed a time limit.
        let time = expected.isTimeout ? ManualTimekeeper() : nil
        let fixture = try LoaderFixture(timekeeper: time ?? SystemTimekeeper()) {
            $0.maximumBytes = 256 << 10
            if time == nil { return }
            $0.firstByteTimeout = .milliseconds(200)
            $0.lowSpeedInterval = .milliseconds(200)
            $0.lowSpeedBytes = 1_000
        }
        let downloader = fixture.downloader()
        let gate = Gate()
        fixture.origin.serve("/fault", answer)
        fixture.origin.serve("/held", answer.held(at: gate))
        fixture.origin.serve("/good", .image([1, 2, 3]))

        func result(_ task: Task<SourceCopy, any Error>) async -> Result<SourceCopy, any Error> {
            guard let time else { return await task.result }
            await fixture.origin.reachedHits(1)
            return await time.pass(by: .milliseconds(50), until: task)
        }
        let single = await result(downloader.begin(url: fixture.origin.url("/fault")))
        #expect(throws: (any Error).self, "\(name)") { try single.get() }
        if case .failure(let error) = single { #expect(expected.matches(error), "\(name): \(error)") }

        let joined = (0..<50).map { _ in downloader.begin(url: fixture.origin.url("/held")) }
        await gate.arrivals(1)
        gate.open()
        for task in joined {
            if case .failure(let error) = await result(task) {
                #expect(expected.matches(error), "\(name): \(error)")
            } else {
                Issue.record("\(name) became a source")
            }
        }
        #expect(fixture.origin.hits("/held") <= 1 || name.hasPrefix("re") || name.hasPrefix("closed"))

        let good = try await downloader.begin(url: fixture.origin.url("/good")).value
        #expect(good.bytes?.array == [1, 2, 3])
        // A fetch has ended before its callers get their results.
        #expect(downloader.activeRequestCount == 0 && downloader.fetches.isEmpty)
    }

    @Test(arguments: [FakeResponse.Framing.length, .chunked, .close])
    func `reading stops soon after the limit`(framing: FakeResponse.Framing) async throws {
        let fixture = try LoaderFixture { $0.maximumBytes = 1 << 20 }
        fixture.origin.serve("/a", .image(bytes(8 << 20)).framed(by: framing))
        let progress = TransferProgress()
        await #expect(throws: DownloadError.tooLarge) { try await fixture.load("/a", progress: progress) }
        #expect(progress.receivedBytes <= 1 << 20)
        #expect(
            await eventually {
                fixture.origin.abandonments("/a") == 1 || fixture.origin.activeCount == 0
            })
    }

    @Test func `a body of exactly the limit is accepted`() async throws {
        let fixture = try LoaderFixture { $0.maximumBytes = 1 << 20 }
        fixture.origin.serve("/a", .image(bytes(1 << 20)).framed(by: .chunked))
        #expect(try await fixture.load("/a").bytes.count == 1 << 20)
    }

    @Test func `a refused connection is unreachable`() async throws {
        let fixture = try LoaderFixture()
        let url = fixture.origin.url("/a")
        fixture.origin.stop()
        await #expect { try await fixture.load(url: url) } throws: { isUnreachable($0) }
    }

    @Test func `a server without TLS fails as a TLS error`() async throws {
        let fixture = try LoaderFixture()
        await #expect {
            try await fixture.load(url: "https://127.0.0.1:\(fixture.origin.port)/a")
        } throws: { error in
            if case .tls? = error as? DownloadError { true } else { false }
        }
    }

    @Test func `a trickling origin times out and frees its slot`() async throws {
        let time = ManualTimekeeper()
        let fixture = try LoaderFixture(timekeeper: time) {
            $0.maximumActiveDownloads = 1
            $0.lowSpeedInterval = .milliseconds(300)
        }
        fixture.origin.serve("/slow", .image(bytes(1_000)).dripping(10, every: .milliseconds(10)))
        fixture.origin.serve("/good", .image([1]))
        let downloader = fixture.downloader()
        let slow = downloader.begin(url: fixture.origin.url("/slow"))
        let good = downloader.begin(url: fixture.origin.url("/good"))
        #expect(downloader.queuedRequestCount == 1)
        #expect(await eventually { downloader.fetches.contains { $0.receivedBytes > 0 } })
        // Advance once: after this, time stands still for the waiting transfer.
        time.advance(by: .milliseconds(300))
        await #expect(throws: DownloadError.timedOut) { try await slow.value }
        _ = try await good.value
    }

    @Test func `the whole transfer has one limit, with any number of redirects`() async throws {
        let fixture = try LoaderFixture { $0.downloadTimeout = .milliseconds(400) }
        fixture.origin.serveOthers { request in
            .redirect(to: request.target + "x").delayed(by: .milliseconds(150))
        }
        await #expect(throws: DownloadError.timedOut) { try await fixture.load("/") }
    }
}

extension ImageDownloader {
    /// Starts a download; the caller is admitted when this returns.
    func begin(url: String, receipt: String = "") -> Task<SourceCopy, any Error> {
        Task.immediate {
            try await download(
                SourceRequest(identity: try identity(of: ExactText(url))), receipt: receipt)
        }
    }
}
