import Coordination
import HTTPTypes
import Memory
import TestSupport
import Testing

@testable import Downloading

/// Requests to a well-behaved origin, and their results.
@Suite(.timeLimit(.minutes(1)))
struct CurlLoaderTests {
    @Test func `a complete image arrives with its origin's metadata`() async throws {
        let fixture = try LoaderFixture()
        let body = bytes(300_000)
        fixture.origin.serve(
            "/a.jpg",
            .image(body, type: "IMAGE/JPEG; charset=x").with("ETag", "\"v1\"").with("X-More", "1")
                .with("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"))
        let progress = TransferProgress()
        let source = try await fixture.load("/a.jpg", progress: progress)
        #expect(source.bytes.array == body)
        #expect(source.head.mediaType == MediaType("image/jpeg"))
        #expect(source.validator == .entityTag("\"v1\""))
        #expect(source.head.eTag == "\"v1\"")
        #expect(source.head.lastModified == HTTPDate(secondsSince1970: 784_111_777))
        #expect(source.head.status == 200)
        #expect(!source.head.headerFields.contains { $0.value == "1" })
        #expect(progress.receivedBytes == body.count)
        #expect(progress.expectedBytes == body.count)
    }

    @Test(arguments: [FakeResponse.Framing.length, .chunked, .close])
    func `a body's end is signaled in three ways`(framing: FakeResponse.Framing) async throws {
        let fixture = try LoaderFixture()
        let body = bytes(100_000)
        fixture.origin.serve("/a", .image(body).framed(by: framing).dripping(30_000, every: .zero))
        #expect(try await fixture.load("/a").bytes.array == body)
    }

    @Test(arguments: [FakeResponse.Framing.length, .chunked, .close], [3_000_000, 192 << 10, 5_000_000])
    func `a body larger than a turn arrives whole, and the limit still applies`(
        framing: FakeResponse.Framing, count: Int
    ) async throws {
        let fixture = try LoaderFixture { $0.maximumBytes = 4_000_000 }
        let body = bytes(count)
        fixture.origin.serve("/a", .image(body).framed(by: framing))
        if count > 4_000_000 {
            await #expect(throws: DownloadError.tooLarge) { try await fixture.load("/a") }
        } else {
            #expect(try await fixture.load("/a").bytes.array == body)
        }
    }

    @Test func `a transfer pauses once, after its part of the bytes`() {
        var hop = TransferHop()
        for _ in 0..<2 {
            let pauses = (0..<20).map { _ in hop.pauses(after: 16 << 10) }
            #expect(pauses == (1...20).map { $0 == 12 } && hop.isPaused)
            hop.resume()
            #expect(!hop.isPaused)
        }
    }

    @Test func `without a strong tag the hash of the bytes is the validator`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve(
            "/a", .image(Array("abc".utf8)).with("ETag", "W/\"v1\"").dripping(1, every: .milliseconds(1)))
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(try await fixture.load("/a").validator == .digest(digest))
    }

    @Test func `a request has the configured fields and no others`() async throws {
        let fixture = try LoaderFixture {
            $0.userAgent = "Test/1"
            $0.accept = "image/png"
        }
        fixture.origin.serve("/a", .image([1]))
        try await fixture.load("/a?b=%20c")
        let request = try #require(fixture.origin.requests.first)
        #expect(request.method == "GET")
        #expect(request.target == "/a?b=%20c")
        #expect(
            request.fields.map { "\($0.name): \($0.value)" }.sorted() == [
                "Accept-Encoding: identity", "Accept: image/png", "Host: 127.0.0.1:\(fixture.origin.port)",
                "User-Agent: Test/1",
            ])
    }

    @Test func `every transfer reports its timings, and whether its connection was reused`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/a", .image([1]).delayed(by: .milliseconds(30)))
        let first = try await fixture.load("/a").timings
        let second = try await fixture.load("/a").timings
        #expect(!first.isReused)
        #expect(second.isReused)
        #expect(first.connect > .zero)
        #expect(second.connect == .zero)
        for timings in [first, second] {
            #expect(timings.firstByte >= .milliseconds(29))
            #expect(timings.total >= timings.firstByte)
            #expect(timings.tls == .zero)
        }
        #expect(fixture.origin.connectionCount == 1)
    }

    @Test func `a small rejected response leaves its connection usable`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/moved", .redirect(to: "/a"))
        fixture.origin.serve("/a", .image([1]))
        await #expect(throws: DownloadError.notFound(404)) { try await fixture.load("/none") }
        try await fixture.load("/moved")
        #expect(fixture.origin.connectionCount == 1)
    }

    @Test func `nothing that an origin wants remembered is stored`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve(
            "/a",
            .image([1]).with("Set-Cookie", "a=b; Path=/").with("Strict-Transport-Security", "max-age=600")
                .with("Alt-Svc", "h2=\"127.0.0.1:1\"; ma=600"))
        for _ in 0..<3 { try await fixture.load("/a") }
        #expect(fixture.origin.hits == 3)
        #expect(fixture.origin.requests.allSatisfy { $0.value("Cookie") == nil })
    }

    @Test func `canceling closes the connection to the origin`() async throws {
        let fixture = try LoaderFixture()
        let gate = Gate()
        fixture.origin.serve("/a", .image(bytes(100_000)).held(afterBytes: 50_000, at: gate))
        let task = Task { try await fixture.load("/a") }
        await gate.arrivals(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await fixture.origin.abandonment(of: "/a")
        gate.open()
    }

    @Test func `a load canceled before it begins sends no request`() async throws {
        let fixture = try LoaderFixture()
        let gate = Gate()
        let task = Task {
            await gate.pass()
            return try await fixture.load("/a")
        }
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(fixture.origin.hits == 0)
    }

    @Test func `after the shutdown loads are rejected, and those in progress fail`() async throws {
        let fixture = try LoaderFixture()
        let gate = Gate()
        fixture.origin.serve("/a", .image([1]).held(at: gate))
        let task = Task { try await fixture.load("/a") }
        await gate.arrivals(1)
        fixture.loader.shutDown()
        await #expect(throws: DownloadError.shuttingDown) { try await task.value }
        await #expect(throws: DownloadError.shuttingDown) { try await fixture.load("/a") }
        gate.open()
    }

    @Test func `many concurrent loads all arrive`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serveOthers { .image(Array($0.target.utf8)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let source = try await fixture.load("/\(number)")
                    #expect(source.bytes.array == Array("/\(number)".utf8))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a thousand loaders leave no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            let fixture = try LoaderFixture()
            fixture.origin.serve("/a", .image([1]))
            try await fixture.load("/a")
            let before = descriptorCount()
            for _ in 0..<1_000 {
                let loader = try CurlLoader(configuration: fixture.configuration)
                _ = try await loader.load(fixture.request(fixture.origin.url("/a")), progress: TransferProgress())
                loader.shutDown()
            }
            // The runtime opens a few descriptors.
            let isFlat = await eventually { descriptorCount() <= before + 5 }
            #expect(isFlat, "\(before) descriptors before, \(descriptorCount()) after")
        }
    }
}
