import Coordination
import Downloading
import HTTPTypes
import Memory
import Synchronization
import TestSupport
import Testing

/// Requests that are retried once, but not twice.
@Suite(.timeLimit(.minutes(1)))
struct RetryTests {
    @Test func `a refused connection is retried once, at the name's current addresses`() async throws {
        let names = try FakeNameServer()
        names.serve("moved.test", .addresses(["127.0.0.2"]), then: .addresses(["127.0.0.1"]))
        let fixture = try RetryFixture { $0.nameServers = names.endpoint }
        fixture.origin.serve("/a", .image([1]))
        let source = try await fixture.load("/a", host: "moved.test")
        #expect(source.bytes.array == [1])
        #expect(fixture.retries == 1)
    }

    @Test func `a connection refused twice is unreachable`() async throws {
        let names = try FakeNameServer()
        names.serve("down.test", .addresses(["127.0.0.2"]))
        let fixture = try RetryFixture { $0.nameServers = names.endpoint }
        await #expect { try await fixture.load("/a", host: "down.test") } throws: { isUnreachable($0) }
        #expect(names.queries.count == 4)
        #expect(fixture.retries == 1)
    }

    @Test func `a reused connection that is reset is replaced once`() async throws {
        let fixture = try RetryFixture()
        fixture.origin.serve("/first", .image([1]))
        fixture.answerAfter(resets: 1)
        try await fixture.load("/first")
        #expect(try await fixture.load("/a").bytes.array == [2])
        #expect(fixture.origin.hits("/a") == 2)
        #expect(fixture.retries == 1)
    }

    @Test(
        arguments: [
            "204 No Content\r\n", "205 Reset Content\r\n", "304 Not Modified\r\n",
            "404 Not Found\r\nContent-Length: 0\r\n",
            "200 OK\r\nContent-Length: 0\r\n", "200 OK\r\nContent-Length: 1\r\n\r\na",
            "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n",
        ], [1, 500])
    func `bytes after a response do not answer the next request`(answer: String, count: Int) async throws {
        let fixture = try RetryFixture()
        let forged = String(repeating: "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged", count: count)
        let end = answer.hasSuffix("a") ? "" : "\r\n"
        fixture.origin.serve("/attack", .open("HTTP/1.1 " + answer + end + forged))
        fixture.origin.serve("/a", .image([1]))
        for _ in 0..<3 {
            _ = try? await fixture.load("/attack")
            #expect(try await fixture.load("/a").bytes.array == [1])
        }
    }

    @Test func `a new connection that is reset is not retried`() async throws {
        let fixture = try RetryFixture()
        fixture.answerAfter(resets: 1)
        await #expect { try await fixture.load("/a") } throws: { isUnreachable($0) }
        #expect(fixture.origin.hits("/a") == 1)
        #expect(fixture.retries == 0)
    }

    @Test func `a response that has begun is not requested again`() async throws {
        let fixture = try RetryFixture()
        fixture.origin.serve("/first", .image([1]))
        fixture.origin.serve("/a", .image(bytes(100)).reset(afterBytes: 50))
        try await fixture.load("/first")
        await #expect { try await fixture.load("/a") } throws: { isProtocolError($0) }
        #expect(fixture.origin.hits("/a") == 1)
    }

    @Test func `without a budget nothing is retried`() async throws {
        let fixture = try RetryFixture()
        fixture.origin.serve("/first", .image([1]))
        fixture.origin.serve("/a", .reset)
        // Each round has two requests; the second one meets a reset on a reused connection.
        for _ in 0..<100 {
            try await fixture.load("/first")
            await #expect { try await fixture.load("/a") } throws: { isUnreachable($0) }
        }
        #expect((10...30).contains(fixture.retries))
        #expect(fixture.origin.hits("/a") == 100 + fixture.retries)
    }
}

/// An origin, a loader, and the number of its retries.
private struct RetryFixture {
    let origin: FakeOrigin
    let loader: CurlLoader
    private let rules: DownloadRules
    private let count = Count()

    private final class Count: Sendable {
        let value = Atomic(0)
    }

    init(_ change: (inout DownloadConfiguration) -> Void = { _ in }) throws {
        var configuration = DownloadConfiguration()
        configuration.allowedNetworks = [try #require(AddressNetwork("127.0.0.0/8"))]
        change(&configuration)
        rules = DownloadRules(configuration)
        origin = try FakeOrigin()
        let count = count
        loader = try CurlLoader(
            configuration: configuration,
            observer: DownloadObserver(onRetry: { count.value.wrappingAdd(1, ordering: .relaxed) }))
    }

    var retries: Int { count.value.load(ordering: .relaxed) }

    /// Serves an image at `/a` after this number of resets.
    func answerAfter(resets: Int) {
        let seen = Count()
        origin.serveOthers { request in
            guard request.target == "/a" else { return nil }
            return seen.value.wrappingAdd(1, ordering: .relaxed).oldValue < resets ? .reset : .image([2])
        }
    }

    @discardableResult
    func load(_ path: String, host: String? = nil) async throws -> ReceivedSource {
        let url = try SourceURL(parsing: origin.url(path, host: host))
        let request = TransferRequest(identity: SourceIdentity(url: url, rules: rules.unnamed))
        guard case .source(let source) = try await loader.load(request, progress: TransferProgress()) else {
            throw UnexpectedConfirmation()
        }
        return source
    }
}
