import Coordination
import Crypto
import Dialects
import HTTPTypes
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

@Suite(.timeLimit(.minutes(1))) struct ThumbnailResponderTests {
    private static let target = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa%2Fphoto.png&w=300"

    @Test func `a thumbnail has all its fields`() async {
        let thumbnail = Thumbnail.sample(
            .webp, lastModified: HTTPDate(secondsSince1970: 784_111_777), freshness: Freshness(lifetime: 3_600, age: 7),
            cacheStatus: [
                CacheLayerStatus(.result, outcome: .uriMiss, isStored: true), CacheLayerStatus(.decoded, outcome: .hit),
            ],
            timings: [StepTiming("render", duration: .microseconds(1_500))])
        let listener = PublicListenerFixture(StubThumbnails(make: { _ in thumbnail }))
        let response = await listener.respond(Self.target)
        #expect(response.status == .ok)
        #expect(response.text == "picture")
        let expected: [HTTPField.Name: String] = [
            .contentType: "image/webp", .eTag: "\"abc\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
            .cacheControl: "public, max-age=3600", .age: "7", .vary: "Accept", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "default-src 'none'; sandbox", .crossOriginResourcePolicy: "cross-origin",
            .contentDisposition: "inline; filename=\"photo.webp\"", .serverTiming: "render;dur=1.500, total;dur=0.000",
            .cacheStatus: "alula-result;fwd=uri-miss;stored, alula-decoded;hit",
        ]
        for (name, value) in expected { #expect(response[name] == value, "\(name)") }
        #expect(response[.xRequestID]?.utf8.count == 15)
        #expect(response[.alulaReceipt] == response[.xRequestID])
        #expect(response.headerFields.count == expected.count + 2)
        #expect(listener.thumbnails.receipts == [response[.xRequestID]])
    }

    @Test func `a cached result is returned at once, without a receipt`() async {
        let listener = PublicListenerFixture(StubThumbnails(cached: .sample()))
        guard case .ready(let response) = listener.responder.respond(to: HTTPRequest(target: Self.target)) else {
            Issue.record("a cached thumbnail was not answered on the calling thread")
            return
        }
        #expect(response.status == .ok)
        #expect(response[.alulaReceipt] == nil)
        #expect(response[.cacheStatus] == "alula-result;hit")
        #expect(listener.thumbnails.receipts.isEmpty)
    }

    @Test func `readers of an image in base64 share the bytes of the result`() async throws {
        let text = "data:image/png;base64,QUFB"
        let image = EncodedImage(
            bytes: SharedBytes(text.utf8), format: .png, size: PixelSize(width: 30, height: 20))
        let thumbnail = Thumbnail(
            RenderedImage(image, eTag: "\"abc\"", cacheStatus: []), lastModified: nil, freshness: Freshness())
        let prefix = try #require(PathPrefix("/w"))
        let target = "/w/?url=example.com/a.png&encoding=base64"
        for stub in [StubThumbnails(cached: thumbnail), StubThumbnails(make: { _ in thumbnail })] {
            let listener = PublicListenerFixture(stub) { $0.otherDialects = [WsrvDialect(at: prefix)] }
            let response = await listener.respond(target)
            guard case .shared(let bytes) = response.body else {
                Issue.record("the body is a copy")
                continue
            }
            #expect(bytes === image.bytes)
            #expect(response.text == text && response[.contentType] == "text/plain" && response[.eTag] == "\"abc\"")
        }
        // The event thread sends hits of any size.
        let listener = PublicListenerFixture(StubThumbnails(cached: thumbnail)) {
            $0.otherDialects = [WsrvDialect(at: prefix)]
        }
        if case .deferred = listener.responder.respond(to: HTTPRequest(target: target)) {
            Issue.record("the answer waits for a task")
        }
    }

    @Test func `fields of a cached thumbnail depend on the thumbnail and the time`() async {
        let changing = Locked(Thumbnail.sample(freshness: Freshness(lifetime: 60, age: 1)))
        let listener = PublicListenerFixture(StubThumbnails(make: { _ in changing.withLock { $0 } }))
        #expect(await listener.respond(Self.target)[.age] == "1")
        changing.withLock { $0 = .sample(freshness: Freshness(lifetime: 60, age: 2)) }
        let second = await listener.respond(Self.target)
        #expect(second[.age] == "2")
        #expect(second[.cacheControl] == "public, max-age=60")
        changing.withLock { $0 = .sample(.png, freshness: Freshness(storability: .none)) }
        let third = await listener.respond(Self.target)
        #expect(third[.cacheControl] == "no-store")
        #expect(third[.contentType] == "image/png")
        #expect(third[.contentDisposition] == "inline; filename=\"photo.png\"")
        #expect(third[.age] == nil)
    }

    @Test func `a thumbnail of an incomplete image is marked`() async throws {
        let image = EncodedImage.sample(.png)
        let thumbnail = Thumbnail(
            RenderedImage(image, eTag: "\"a\"", isIncomplete: true, cacheStatus: []), lastModified: nil,
            freshness: Freshness(lifetime: 60))
        let listener = PublicListenerFixture(StubThumbnails(cached: thumbnail))
        let name = try #require(HTTPField.Name("Alula-Incomplete"))
        let response = await listener.respond(Self.target)
        #expect(response[name] == "1" && response[.cacheControl] == "public, max-age=60")
        #expect(await PublicListenerFixture().respond(Self.target)[name] == nil)
    }

    @Test func `a searched quality is reported, also by hits and for HEAD`() async throws {
        let image = EncodedImage(
            bytes: SharedBytes([1]), format: .jpeg, size: PixelSize(width: 3, height: 2), quality: 57)
        let thumbnail = Thumbnail(
            RenderedImage(image, eTag: "\"a\""), lastModified: nil, freshness: Freshness(lifetime: 60))
        let listener = PublicListenerFixture(StubThumbnails(cached: thumbnail))
        let name = try #require(HTTPField.Name("Alula-Quality"))
        for _ in 1...2 { #expect(await listener.respond(Self.target)[name] == "57") }
        #expect(await listener.respond(Self.target, method: .head)[name] == "57")
        #expect(await PublicListenerFixture().respond(Self.target)[name] == nil)
    }

    @Test(arguments: [true, false]) func `a response reports the outcome of its source's gain map`(
        isKept: Bool
    ) async throws {
        var header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 3, height: 2))
        header.colors.hdrFormat = .gainMap
        let image = EncodedImage(
            bytes: SharedBytes([1]), format: .jpeg, size: PixelSize(width: 3, height: 2), hasGainMap: isKept)
        let thumbnail = Thumbnail(
            RenderedImage(image, eTag: "\"a\""), sourceHeader: header, lastModified: nil,
            freshness: Freshness(lifetime: 60))
        let listener = PublicListenerFixture(StubThumbnails(cached: thumbnail))
        let name = try #require(HTTPField.Name("Alula-HDR"))
        for _ in 1...2 { #expect(await listener.respond(Self.target)[name] == (isKept ? "kept" : "dropped")) }
        #expect(await PublicListenerFixture().respond(Self.target)[name] == nil)
    }

    @Test func `only a negotiated format varies`() async {
        let listener = PublicListenerFixture()
        #expect(await listener.respond(Self.target + "&format=auto")[.vary] == "Accept")
        #expect(await listener.respond(Self.target + "&format=png")[.vary] == nil)
        let accepting = await listener.respond(Self.target, fields: [.accept: "image/webp;q=0.5"])
        #expect(accepting[.vary] == "Accept")
        #expect(listener.thumbnails.requests.last?.nativeOptions?.format == .negotiated([.webp: 500]))
    }

    @Test func `the client's own copy is not sent again`() async {
        let listener = PublicListenerFixture()
        let response = await listener.respond(Self.target, fields: [.ifNoneMatch: "W/\"abc\""])
        #expect(response.status == .notModified)
        #expect(response[.eTag] == "\"abc\"")
        #expect(response[.cacheControl] == "public")
        #expect(response[.vary] == "Accept")
        #expect(response[.serverTiming] != nil)
        #expect(response[.contentType] == nil)
        #expect(response[.contentDisposition] == nil)
    }

    @Test func `HEAD does the work of GET`() async {
        let listener = PublicListenerFixture()
        let response = await listener.respond(Self.target, method: .head)
        #expect(response.status == .ok)
        #expect(response.body.count == 7)
        #expect(listener.thumbnails.requests.count == 1)
    }

    @Test func `responses and failures name the allowed origin`() async {
        let listener = PublicListenerFixture { $0.allowOrigin = "https://shop.example" }
        #expect(await listener.respond(Self.target)[.accessControlAllowOrigin] == "https://shop.example")
        #expect(await listener.respond("/thumbnail")[.accessControlAllowOrigin] == "https://shop.example")
        #expect(await PublicListenerFixture().respond(Self.target)[.accessControlAllowOrigin] == nil)
    }

    @Test(arguments: ["/thumbnail", target, target + "&w=1", "/thumbnail?url=x:y&page=x"])
    func `every response of the thumbnail route has its timing`(target: String) async {
        #expect(await PublicListenerFixture().respond(target)[.serverTiming]?.hasSuffix("total;dur=0.000") == true)
        #expect(await PublicListenerFixture().respond(target, method: .post)[.serverTiming] == "total;dur=0.000")
    }

    @Test func `an expired target is rejected`() async {
        let listener = PublicListenerFixture(StubThumbnails(cached: .sample(freshness: Freshness(lifetime: 3_600))))
        let target = Self.target + "&expires=\(listener.time.secondsSince1970 + 100)"
        #expect(await listener.respond(target)[.cacheControl] == "public, max-age=100")
        listener.time.advance(by: .seconds(40))
        #expect(await listener.respond(target)[.cacheControl] == "public, max-age=60")
        listener.time.advance(by: .seconds(60))
        let response = await listener.respond(target)
        #expect(response.status == .forbidden)
        #expect(response.code == "expired")
    }

    @Test func `with keys only signed targets are served`() async {
        let key = [UInt8](0..<32)
        let listener = PublicListenerFixture { $0.signingKeys = [[UInt8](repeating: 1, count: 32), key] }
        #expect(await listener.respond(URLSigner.sign(target: Self.target, key: key)).status == .ok)
        for target in [Self.target, "/thumbnail", "/thumbnail?nonsense&w=x", "/thumbnail?w=1&w=2"] {
            let response = await listener.respond(target)
            #expect(response.status == .forbidden, "\(target)")
            #expect(response.code == "bad_signature")
        }
        #expect(listener.thumbnails.requests.count == 1)
        let signedNonsense = await listener.respond(URLSigner.sign(target: "/thumbnail?nonsense", key: key))
        #expect(signedNonsense.code == "unknown_parameter")
    }

    @Test func `a failure is a machine-readable problem`() async {
        let error = StubError(logDetail: "curl says 10.0.0.1", upstreamStatus: 500)
        let listener = PublicListenerFixture(StubThumbnails(make: { _ in throw error }))
        let response = await listener.respond(Self.target)
        let id = response[.xRequestID] ?? ""
        #expect(response.status == .badGateway)
        #expect(response[.contentType] == "application/problem+json")
        #expect(response[.cacheControl] == "no-store")
        #expect(response[.xContentTypeOptions] == "nosniff")
        #expect(response[.contentSecurityPolicy] == "default-src 'none'; sandbox")
        #expect(response[.alulaReceipt] == id)
        #expect(
            response.text == #"{"type":"about:blank","title":"Bad Gateway","status":502,"#
                + #""detail":"The origin answered with an error.","code":"origin_error","upstreamStatus":500,"#
                + #""requestId":"\#(id)"}"#)
        #expect(listener.log.lines.last?["detail"] == .string("curl says 10.0.0.1"))
    }

    @Test func `a parameter's failure names it`() async {
        let response = await PublicListenerFixture().respond(Self.target + "&q=0")
        #expect(response.status == .badRequest)
        #expect(response.code == "bad_parameter")
        #expect(response.member("parameter") == "q")
    }

    @Test func `a temporary failure has a Retry-After`() async {
        let overloaded = StubError(status: .serviceUnavailable, code: .overloaded, category: .overload, retryAfter: 7)
        #expect(
            await PublicListenerFixture(StubThumbnails(make: { _ in throw overloaded })).respond(Self.target)[
                .retryAfter] == "7")
        let silent = StubError(status: .serviceUnavailable, code: .overloaded, category: .overload)
        #expect(
            await PublicListenerFixture(StubThumbnails(make: { _ in throw silent })).respond(Self.target)[.retryAfter]
                == "1")
    }

    @Test func `an unknown failure is internal, and explained only in the log`() async {
        struct Surprise: Error { var secret = "/etc/passwd" }
        let listener = PublicListenerFixture(StubThumbnails(make: { _ in throw Surprise() })) { $0.accessLog = .off }
        let response = await listener.respond(Self.target)
        #expect(response.status == .internalServerError)
        #expect(response.code == "internal")
        #expect(!response.text.contains("passwd"))
        #expect(listener.log.lines.last?.level == .error)
        #expect(listener.log.lines.last?["requestId"] == response[.xRequestID].map { .string($0) })
        if case .string(let detail) = listener.log.lines.last?["detail"] { #expect(detail.contains("passwd")) }
    }

    @Test func `a request ends at its deadline`() async {
        let gate = Gate()
        let listener = PublicListenerFixture(
            StubThumbnails(make: { _ in
                try await withTaskCancellationHandler {
                    await gate.pass()
                    try Task.checkCancellation()
                    return .sample()
                } onCancel: {
                    gate.open()
                }
            })
        ) { $0.requestTimeout = .seconds(3) }
        async let answer = listener.respond(Self.target)
        await gate.arrivals(1)
        await listener.time.sleepers(1)
        listener.time.advance(by: .seconds(3))
        let response = await answer
        #expect(response.status == .gatewayTimeout)
        #expect(response.code == "deadline_exceeded")
        #expect(response[.serverTiming] == "total;dur=3000.000")
    }

    /// The response to a request whose task is canceled during the pipeline's work, which then ends.
    private func cancelled(
        _ listener: PublicListenerFixture, _ gate: Gate, before: @escaping @Sendable () -> Void = {}
    ) async -> HTTPResponse {
        let task = Task { await listener.respond(Self.target) }
        await gate.arrivals(1)
        before()
        task.cancel()
        gate.open()
        return await task.value
    }

    private static let ends: [@Sendable () throws -> Thumbnail] = [
        { throw CancellationError() }, { throw StubError(category: .origin, logDetail: "reset") }, { .sample() },
    ]

    @Test(arguments: ends.indices)
    func `a request whose client has left counts as 499, and is not logged as an error`(end: Int) async {
        for isDraining in [false, true] {
            let gate = Gate()
            let listener = PublicListenerFixture(
                StubThumbnails(make: { _ in
                    await gate.pass()
                    return try Self.ends[end]()
                }))
            let response = await cancelled(listener, gate) { if isDraining { listener.lifecycle.beginDraining() } }
            #expect(response.status == .clientClosedRequest)
            #expect(listener.log.lines.map(\.level) == [.info])
            #expect(listener.log.lines.last?["status"] == 499)
            #expect(listener.log.lines.last?["error"] == "client_closed")
            let metrics = listener.registry.prometheusText
            #expect(metrics.contains(#"alula_requests_total{route="thumbnail",status="499"} 1"#))
            #expect(!metrics.contains(#"status="503""#))
        }
    }

    @Test(arguments: ends.indices)
    func `without an access log a client that has left leaves no line`(end: Int) async {
        let gate = Gate()
        let listener = PublicListenerFixture(
            StubThumbnails(make: { _ in
                await gate.pass()
                return try Self.ends[end]()
            })
        ) { $0.accessLog = .off }
        #expect(await cancelled(listener, gate).status == .clientClosedRequest)
        #expect(listener.log.lines.isEmpty)
    }

    @Test func `a request cut by the service does not count as left by its client`() async {
        let gate = Gate()
        let listener = PublicListenerFixture(
            StubThumbnails(make: { _ in
                await gate.pass()
                throw CancellationError()
            }))
        let response = await cancelled(listener, gate) { listener.lifecycle.beginCutting() }
        #expect(response.status == .serviceUnavailable && response.code == "draining")
    }

    @Test func `a request whose shared work ends with the service is rejected as draining`() async {
        let listener = PublicListenerFixture(StubThumbnails(make: { _ in throw CancellationError() }))
        #expect(await listener.respond(Self.target).status == .internalServerError)
        let gate = Gate()
        let ending = PublicListenerFixture(
            StubThumbnails(make: { _ in
                await gate.pass()
                throw CancellationError()
            }))
        async let answer = ending.respond(Self.target)
        await gate.arrivals(1)
        ending.lifecycle.beginDraining()
        gate.open()
        #expect(await answer.code == "draining")
    }

    @Test func `a miss without capacity is rejected on the calling thread, a hit is served`() async {
        let rejection = StubError(
            status: .serviceUnavailable, code: .overloaded, category: .overload, retryAfter: 2)
        let listener = PublicListenerFixture(StubThumbnails(rejection: rejection))
        guard
            case .ready(let response) = listener.responder.respond(
                to: HTTPRequest(target: Self.target + "&placeholder=red"))
        else {
            Issue.record("a rejection was not given on the calling thread")
            return
        }
        #expect(response.status == .serviceUnavailable)
        #expect(response.code == "overloaded")
        #expect(response[.retryAfter] == "2")
        #expect(listener.thumbnails.receipts.isEmpty)
        let full = PublicListenerFixture(StubThumbnails(cached: .sample(), rejection: rejection))
        #expect(await full.respond(Self.target).status == .ok)
        #expect(await listener.respond("/health/live").status == .ok)
    }

    @Test func `new thumbnails are rejected once the service drains`() async {
        let listener = PublicListenerFixture(StubThumbnails(cached: .sample()))
        listener.lifecycle.failReadiness()
        #expect(await listener.respond(Self.target).status == .ok)
        listener.lifecycle.beginDraining()
        let response = await listener.respond(Self.target)
        #expect(response.status == .serviceUnavailable)
        #expect(response.code == "draining")
        #expect(response[.retryAfter] == "1")
    }

    @Test func `a thumbnail in progress when draining begins is finished`() async {
        let gate = Gate()
        let listener = PublicListenerFixture(
            StubThumbnails(make: { _ in
                await gate.pass()
                return .sample()
            }))
        async let answer = listener.respond(Self.target)
        await gate.arrivals(1)
        listener.lifecycle.beginDraining()
        gate.open()
        #expect(await answer.status == .ok)
    }
}
