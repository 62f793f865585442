import Downloading
import HTTPTypes
import Telemetry
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

struct TrustedProxiesTests {
    private static let proxy = PeerAddress(high: 0, low: 0xffff_0a00_0001)
    private static let stranger = PeerAddress(high: 0, low: 0xffff_c000_0207)

    private func proxies() throws -> TrustedProxies {
        TrustedProxies([try #require(AddressNetwork("10.0.0.0/8")), try #require(AddressNetwork("fd00::/8"))])
    }

    private func request(from peer: PeerAddress, _ lists: String...) -> HTTPRequest {
        var request = HTTPRequest(
            target: "/", headerFields: HTTPFields(lists.map { HTTPField(name: .xForwardedFor, value: $0) }))
        request.peer = peer
        return request
    }

    @Test(arguments: [
        (["192.0.2.1"], "192.0.2.1"), (["198.51.100.9, 192.0.2.1"], "192.0.2.1"),
        (["198.51.100.9, 192.0.2.1, 10.1.1.1"], "192.0.2.1"), (["198.51.100.9", "192.0.2.1 , 10.1.1.1"], "192.0.2.1"),
        (["10.2.2.2, 10.1.1.1"], "10.2.2.2"), (["garbage, 10.1.1.1"], "10.1.1.1"), (["192.0.2.1, garbage"], "10.0.0.1"),
        ([""], "10.0.0.1"), (["192.0.2.1,"], "10.0.0.1"), (["192.0.2.1:4711"], "192.0.2.1"),
        (["[2001:db8::1]:4711"], "2001:db8::1"), (["2001:db8::1"], "2001:db8::1"), (["::ffff:192.0.2.1"], "192.0.2.1"),
        (["192.0.2.1, fd00::5"], "192.0.2.1"), (["[", "[]"], "10.0.0.1"), (["192.0.2.999"], "10.0.0.1"),
    ])
    func `the client is the last address that is not a proxy's`(lists: [String], client: String) throws {
        var request = request(from: Self.proxy)
        request.headerFields = HTTPFields(lists.map { HTTPField(name: .xForwardedFor, value: $0) })
        #expect(try proxies().sender(of: request).client?.description == client)
    }

    @Test func `untrusted lists do not count`() throws {
        #expect(
            try proxies().sender(of: request(from: Self.stranger, "198.51.100.9")).client?.description == "192.0.2.7")
        #expect(
            TrustedProxies().sender(of: request(from: Self.proxy, "198.51.100.9")).client?.description == "10.0.0.1")
        #expect(try proxies().sender(of: HTTPRequest(target: "/")).client == nil)
    }

    @Test func `a peer without an address, on a Unix socket, is trusted`() throws {
        var request = request(from: Self.proxy, "198.51.100.9, 192.0.2.1, 10.1.1.1")
        request.peer = nil
        let sender = try proxies().sender(of: request)
        #expect(sender.client?.description == "192.0.2.1" && sender.isProxied)
        request.headerFields = [:]
        #expect(try proxies().sender(of: request).client == nil)
    }

    @Test func `a long list is cheap and names the same client`() throws {
        let list = Array(repeating: "10.1.1.1", count: 1_600).joined(separator: ",")
        #expect(try proxies().sender(of: request(from: Self.proxy, list)).client?.description == "10.1.1.1")
    }

    private static let target = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=3"

    private func named(_ id: String, target: String = target, from peer: PeerAddress = proxy) -> HTTPRequest {
        var request = HTTPRequest(target: target, headerFields: [.xRequestID: id])
        request.peer = peer
        return request
    }

    @Test func `a trusted proxy names requests, but not their waits`() async throws {
        let proxies = try proxies()
        let listener = PublicListenerFixture { $0.trustedProxies = proxies }
        for _ in 0..<2 {
            let response = await PublicListenerFixture.response(of: listener.responder.respond(to: named("edge-7")))
            #expect(response[.xRequestID] == "edge-7" && response[.alulaReceipt] != "edge-7")
            #expect(response[.alulaReceipt] == listener.thumbnails.receipts.last)
        }
        #expect(Set(listener.thumbnails.receipts).count == 2, "one cannot cancel the other")
        #expect(listener.log.lines.map { $0["requestId"] } == ["edge-7", "edge-7"])
    }

    @Test(arguments: [("", true), ("a b", true), (String(repeating: "x", count: 129), true), ("x", false)])
    func `other names of requests are replaced`(id: String, isTrusted: Bool) async throws {
        let proxies = try proxies()
        let listener = PublicListenerFixture { $0.trustedProxies = proxies }
        let request = named(id, target: "/nothing", from: isTrusted ? Self.proxy : Self.stranger)
        let response = await PublicListenerFixture.response(of: listener.responder.respond(to: request))
        #expect(response[.xRequestID]?.utf8.count == RequestIDs.length)
    }

    @Test func `a request with a name gets its own response even if nothing is logged`() async throws {
        let proxies = try proxies()
        let listener = PublicListenerFixture(StubThumbnails(cached: .sample(slot: ResponseSlot()))) {
            ($0.trustedProxies, $0.accessLog) = (proxies, .off)
        }
        let response = await PublicListenerFixture.response(of: listener.responder.respond(to: named("edge-7")))
        #expect(response[.xRequestID] == "edge-7")
        var nameless = named("")
        nameless.headerFields = [:]
        let other = await PublicListenerFixture.response(of: listener.responder.respond(to: nameless))
        #expect(other.status == .ok && other[.xRequestID] == nil)
    }

    private static let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test(arguments: [true, false])
    func `a trusted proxy's trace and client are in the log`(isTrusted: Bool) async throws {
        let tracer = Tracer(
            TraceSampler(ratio: 0), propagatesAll: false, registry: MetricsRegistry(), timekeeper: ManualTimekeeper())
        let proxies = try proxies()
        let listener = PublicListenerFixture(tracer: tracer) { $0.trustedProxies = proxies }
        var request = request(from: isTrusted ? Self.proxy : Self.stranger, "198.51.100.9")
        request.headerFields.append(.traceparent, Self.traceparent)
        _ = listener.responder.respond(to: request)
        let line = try #require(listener.log.lines.last)
        #expect(line["client"] == (isTrusted ? "198.51.100.9" : "192.0.2.7"))
        #expect(line["traceId"] == (isTrusted ? "4bf92f3577b34da6a3ce929d0e0e4736" : nil))
        #expect(tracer.dequeueSpans(atMost: 9).map(\.name) == (isTrusted ? ["GET page"] : []))
    }

    @Test func `a client behind a proxy has at most the allowed number of requests in progress`() async throws {
        let proxies = try proxies()
        let listener = PublicListenerFixture {
            $0.trustedProxies = proxies
            $0.maximumRequestsPerClient = 1
        }
        func answer(_ client: String) -> PendingResponse<HTTPResponse> {
            var request = request(from: Self.proxy, client)
            request.target = "/thumbnail?url=http://example.com/a&w=10"
            return listener.responder.respond(to: request)
        }
        guard case .deferred(let work) = answer("198.51.100.9") else { throw Unexpected() }
        guard case .ready(let rejection) = answer("198.51.100.9") else { throw Unexpected() }
        #expect(rejection.status == .serviceUnavailable && rejection.code == "overloaded")
        guard case .deferred = answer("198.51.100.10") else { throw Unexpected() }
        _ = await work()
        guard case .deferred = answer("198.51.100.9") else { throw Unexpected() }
    }

    @Test(arguments: [false, true])
    func `a lookup in the shared cache takes a slot until its end`(isAbandoned: Bool) async throws {
        let proxies = try proxies()
        let listener = PublicListenerFixture {
            $0.trustedProxies = proxies
            $0.maximumRequestsPerClient = 1
        }
        func answer() -> PendingResponse<HTTPResponse> {
            var request = request(from: Self.proxy, "198.51.100.9")
            request.target = "/thumbnail?url=http://example.com/a&w=10"
            return listener.responder.respond(to: request)
        }
        listener.thumbnails.look = StubLookup(.queryAgain, .thumbnail(.sample()))
        guard case .waiting(let first) = answer() else { throw Unexpected() }
        guard case .waiting(let second) = first.finish() else { throw Unexpected() }
        guard case .ready(let rejection) = answer() else { throw Unexpected() }
        #expect(rejection.status == .serviceUnavailable)
        if isAbandoned {
            _ = second.abandon()
        } else {
            guard case .ready(let response) = second.finish() else { throw Unexpected() }
            #expect(response.status == .ok)
        }
        listener.thumbnails.look = StubLookup(.needsTask(EarlierLookup()))
        guard case .waiting(let third) = answer(), case .deferred(let work) = third.finish() else { throw Unexpected() }
        guard case .ready = answer() else { throw Unexpected() }
        _ = await work()
        guard case .waiting = answer() else { throw Unexpected() }
    }

    private struct Unexpected: Error {}
}
