import Foundation
import TestSupport
import Testing

@testable import AlulaClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The loader over real sockets with a scripted service.
@Suite(.timeLimit(.minutes(2)))
struct ThumbnailLoaderTests {
    private let origin: FakeOrigin
    private let service: ThumbnailService

    init() throws {
        origin = try FakeOrigin()
        service = try ThumbnailService(try #require(URL(string: origin.url(""))))
    }

    private func url(_ path: String) -> URL { service.baseURL.appending(path: path) }

    private func image(_ text: String, maxAge: Int = 60) -> FakeResponse {
        .image(Array(text.utf8), type: "image/png").with("Cache-Control", "public, max-age=\(maxAge)")
    }

    private func loader(
        _ order: ThumbnailLoader.Order = .fifo, places: Int = 4, capacity: Int = 1_000,
        now: @escaping @Sendable () -> Date = { .now }
    ) -> ThumbnailLoader {
        var configuration = ThumbnailLoader.Configuration()
        (configuration.order, configuration.maximumActiveLoads) = (order, places)
        configuration.memory = ThumbnailMemoryCache<Thumbnail>(capacity: capacity)
        configuration.retry = .none
        return ThumbnailLoader(
            service, configuration: configuration, environment: ThumbnailLoader.Environment(now: now))
    }

    @Test func `200 loads of one URL make one request, and a later load makes none`() async throws {
        let gate = Gate()
        origin.serve("/a", image("a").held(at: gate))
        let (loader, url) = (loader(), url("/a"))
        var loads: [ThumbnailLoad] = []
        for _ in 0..<200 { loads.append(await loader.load(url)) }
        await gate.arrivals(1)
        gate.open()
        for load in loads { #expect(try await load.thumbnail.data == Data("a".utf8)) }
        #expect(try await loader.thumbnail(url).mediaType == "image/png")
        #expect(origin.hits("/a") == 1)
        #expect(await loader.activeLoads == 0)
    }

    @Test func `a canceled receipt ends one wait at once, and the last one closes the connection`() async throws {
        origin.serve("/a", .silence)
        let (loader, url) = (loader(), url("/a"))
        let loads = [await loader.load(url), await loader.load(url)]
        await origin.reachedHits(1, of: "/a")
        await loader.cancel(loads[0].receipt)
        await #expect { try await loads[0].thumbnail } throws: {
            if case ClientError.cancelled = $0 { true } else { false }
        }
        #expect(await loader.activeLoads == 1 && origin.abandonments("/a") == 0)
        await loader.cancel(loads[1].receipt)
        await origin.abandonment(of: "/a")
        #expect(await eventually { await loader.activeLoads == 0 })
        // The next caller gets a new load.
        origin.serve("/a", image("b"))
        #expect(try await loader.thumbnail(url).data == Data("b".utf8))
    }

    @Test func `loads canceled as they begin or end affect no other`() async throws {
        origin.serve("/a", image("a", maxAge: 0))
        let (loader, url) = (loader(), url("/a"))
        for round in 0..<300 {
            let load = await loader.load(url)
            // About as many turns of other tasks as a load takes.
            for _ in 0..<round { await Task.yield() }
            await loader.cancel(load.receipt)
        }
        #expect(try await loader.thumbnail(url).data == Data("a".utf8))
        #expect(await eventually { await loader.activeLoads == 0 })
    }

    @Test func `a caller leaves when its task is canceled or its load is released`() async throws {
        origin.serve("/a", .silence)
        origin.serve("/b", .silence)
        let loader = loader()
        let (first, second) = (url("/a"), url("/b"))
        let task = Task { try await loader.thumbnail(first) }
        await origin.reachedHits(1, of: "/a")
        task.cancel()
        await #expect(throws: ClientError.self) { try await task.value }
        await origin.abandonment(of: "/a")
        _ = await loader.load(second)
        #expect(await eventually { await loader.activeLoads == 0 })
    }

    @Test(arguments: [(ThumbnailLoader.Order.fifo, ["/0", "/1", "/2", "/3"]), (.lifo, ["/0", "/3", "/2", "/1"])])
    func `no more loads run than there are slots, and the others start in order`(
        order: ThumbnailLoader.Order, expected: [String]
    ) async throws {
        let gate = Gate()
        for number in 0..<4 { origin.serve("/\(number)", image("x").held(at: gate)) }
        let loader = loader(order, places: 1)
        var loads: [ThumbnailLoad] = []
        for number in 0..<4 { loads.append(await loader.load(url("/\(number)"))) }
        #expect(await loader.activeLoads == 1)
        #expect(await loader.queuedLoads == 3)
        gate.open()
        for load in loads { _ = try await load.thumbnail }
        #expect(origin.requests.map(\.target) == expected)
        #expect(origin.highestParallelism == 1)
    }

    @Test func `a placeholder comes first, unless the thumbnail is available`() async throws {
        origin.serve("/a", image("a"))
        let (loader, url) = (loader(), url("/a"))
        let placeholder = Thumbnail(data: Data("p".utf8), mediaType: "image/png")
        var shown: [[Data]] = [[], []]
        for round in 0..<2 {
            for try await element in await loader.load(url, placeholder: placeholder) {
                switch element {
                case .placeholder(let thumbnail), .thumbnail(let thumbnail): shown[round].append(thumbnail.data)
                case .progress: break
                }
            }
        }
        #expect(shown == [[Data("p".utf8), Data("a".utf8)], [Data("a".utf8)]])
    }

    @Test func `files are cached while they are fresh and within the byte limit`() async throws {
        let passed = EventCounter()
        let memory = ThumbnailMemoryCache<Thumbnail>(capacity: 10)
        var configuration = ThumbnailLoader.Configuration()
        configuration.memory = memory
        let environment = ThumbnailLoader.Environment(now: { Date(timeIntervalSince1970: Double(passed.count)) })
        let loader = ThumbnailLoader(service, configuration: configuration, environment: environment)
        origin.serve("/a", image("aaaa", maxAge: 1))
        origin.serve("/b", image("bbbb"))
        origin.serve("/c", image("cccc"))
        origin.serve("/none", .image(Array("n".utf8), type: "image/png").with("Cache-Control", "no-store"))
        for path in ["/a", "/a", "/none", "/none"] { _ = try await loader.thumbnail(url(path)) }
        #expect(origin.hits("/a") == 1 && origin.hits("/none") == 2)
        passed.increment()
        _ = try await loader.thumbnail(url("/a"))
        #expect(origin.hits("/a") == 2)
        for path in ["/b", "/c"] {
            _ = try await loader.thumbnail(url(path))
            #expect(memory.usage <= 10)
        }
        #expect(loader.cached(url("/a")) == nil)
        #expect(loader.cached(url("/c")) != nil)
        loader.removeCached(url("/c"))
        #expect(loader.cached(url("/c")) == nil)
        loader.removeAllCached()
        #expect(memory.usage == 0)
    }

    @Test func `a receipt of another loader cancels nothing`() async throws {
        let gate = Gate()
        origin.serve("/a", image("a").held(at: gate))
        let (one, other, url) = (loader(), loader(), url("/a"))
        let (load, foreign) = (await one.load(url), await other.load(url))
        await one.cancel(foreign.receipt)
        gate.open()
        #expect(try await load.thumbnail.data == Data("a".utf8))
        #expect(try await foreign.thumbnail.data == Data("a".utf8))
    }

    @Test func `a failure reaches every caller, and the next call sends a new request`() async throws {
        let gate = Gate()
        let problem = #"{"type":"about:blank","title":"Unavailable","status":503,"detail":"Busy.","code":"overloaded"}"#
        origin.serve(
            "/a",
            FakeResponse(
                status: 503, fields: [("Content-Type", "application/problem+json"), ("Retry-After", "2")],
                body: Array(problem.utf8)
            ).held(at: gate))
        let (loader, url) = (loader(), url("/a"))
        let loads = [await loader.load(url), await loader.load(url)]
        gate.open()
        for load in loads {
            await #expect { try await load.thumbnail } throws: { error in
                if case ClientError.problem(let problem, .seconds(2)?) = error {
                    problem.code == "overloaded"
                } else {
                    false
                }
            }
        }
        origin.serve("/a", image("a"))
        #expect(try await loader.thumbnail(url).data == Data("a".utf8))
    }

    @Test func `truncated, oversized and foreign responses each have their error`() async throws {
        var service = service
        service.maximumResponseBytes = 11
        origin.serve("/cut", image("abcdef").cut(afterBytes: 3))
        origin.serve("/long", image("012345678901"))
        origin.serve("/page", .image(Array("<p>".utf8), type: "text/html; charset=utf-8"))
        origin.serve("/gone", .status(502))
        func failure(_ path: String) async throws -> ClientError? {
            let url = url(path)
            do throws(ClientError) {
                _ = try await service.thumbnail(at: url)
                return nil
            } catch {
                return error
            }
        }
        if case .transport = try await failure("/cut") {} else { Issue.record("/cut") }
        if case .tooLarge = try await failure("/long") {} else { Issue.record("/long") }
        if case .unexpected(200, "text/html") = try await failure("/page") {} else { Issue.record("/page") }
        if case .unexpected(502, "text/plain") = try await failure("/gone") {} else { Issue.record("/gone") }
    }

    @Test func `a part is delivered before the next one arrives, and a response without an end fails`() async throws {
        let gate = Gate()
        let first = "--b\r\nContent-ID: <0>\r\nContent-Type: image/png\r\n\r\na\r\n--b\r\n"
        let body = Array((first + "Content-ID: <1>\r\nContent-Type: image/png\r\n\r\nb\r\n--b--\r\n").utf8)
        let mediaType = "multipart/mixed; boundary=b"
        let answer = FakeResponse(fields: [("Content-Type", mediaType)], body: body)
        origin.serve("/whole", answer.framed(by: .chunked).held(afterBytes: first.utf8.count, at: gate))
        let transport = Transport(.ephemeral)
        func iterator(_ path: String) async throws -> ThumbnailParts.AsyncIterator {
            let response = try await transport.send(URLRequest(url: url(path)), limit: 1_000)
            return ThumbnailParts(response: response, reader: try #require(MultipartReader(mediaType: mediaType)))
                .makeAsyncIterator()
        }
        var parts = try await iterator("/whole")
        #expect(try await parts.next()?.name == "0")
        await gate.arrivals(1)
        gate.open()
        #expect(try await parts.next()?.thumbnail?.data == Data("b".utf8))
        #expect(try await parts.next() == nil)
        let short = FakeResponse(fields: answer.fields, body: Array(body.prefix(first.utf8.count)))
        origin.serve("/short", short)
        var rest = try await iterator("/short")
        _ = try await rest.next()
        await #expect(throws: ClientError.self) { try await rest.next() }
    }
}
