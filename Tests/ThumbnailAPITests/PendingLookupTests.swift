import HTTPTypes
import Telemetry
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// Responses after lookups in the shared cache.
@Suite(.timeLimit(.minutes(1))) struct SharedLookAnswerTests {
    private static let target = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa%2Fphoto.png&w=300"

    @Test func `a thumbnail from another instance is returned after short waits, without a task`() async throws {
        let listener = PublicListenerFixture()
        let status = [
            CacheLayerStatus(.result, outcome: .uriMiss, isStored: true), CacheLayerStatus(.shared, outcome: .hit),
        ]
        let look = StubLookup(.queryAgain, .thumbnail(.sample(cacheStatus: status)))
        listener.thumbnails.look = look
        let request = HTTPRequest(target: Self.target)
        guard case .waiting(let first) = listener.responder.respond(to: request),
            case .waiting(let second) = first.finish(),
            case .ready(let response) = second.finish()
        else {
            Issue.record("the look was not followed")
            return
        }
        #expect(response.status == .ok && response[.eTag] == "\"abc\"")
        #expect(response[.cacheStatus] == "alula-result;fwd=uri-miss;stored, alula-shared;hit")
        #expect(response[.alulaReceipt] == response[.xRequestID])
        #expect(listener.thumbnails.receipts.isEmpty && look.rest == 0)
        #expect(listener.registry.prometheusText.contains("status=\"200\"} 1"))
    }

    @Test func `an insufficient lookup is followed by a task, which knows its result`() async {
        let listener = PublicListenerFixture()
        listener.thumbnails.look = StubLookup(.needsTask(EarlierLookup()))
        let response = await listener.respond(Self.target)
        #expect(response.status == .ok && response[.alulaReceipt] == response[.xRequestID])
        #expect(listener.thumbnails.afterLooks == 1 && listener.thumbnails.receipts.count == 1)
    }

    @Test func `a client that leaves during a lookup counts as gone`() async {
        let listener = PublicListenerFixture()
        listener.thumbnails.look = StubLookup(.thumbnail(.sample()))
        guard case .waiting(let wait) = listener.responder.respond(to: HTTPRequest(target: Self.target)) else {
            Issue.record("there was no look")
            return
        }
        _ = wait.abandon()
        #expect(listener.registry.prometheusText.contains("status=\"499\"} 1"))
    }

    @Test func `a request with cache directives is served by a task`() async {
        let listener = PublicListenerFixture { $0.honorsClientCacheControl = true }
        let look = StubLookup(.thumbnail(.sample()))
        listener.thumbnails.look = look
        let response = await listener.respond(Self.target, fields: [.cacheControl: "no-cache"])
        #expect(response.status == .ok && look.rest == 1)
    }
}
