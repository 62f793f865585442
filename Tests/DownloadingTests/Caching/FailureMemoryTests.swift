import Testing

@testable import Downloading

struct FailureMemoryTests {
    private var memory = FailureMemory(DownloadConfiguration(), capacity: 4)

    @Test(
        arguments: [
            (.notFound(404), 60), (.notFound(410), 60), (.status(503), 5), (.status(403), 5), (.timedOut, 5),
            (.unreachable("refused"), 5), (.protocolError("cut"), 5), (.tls("expired"), 5), (.tooManyRedirects, 5),
            (.notAnImage("text/html"), 5), (.emptyBody, 5),
        ] as [(DownloadError, Int)])
    func `an origin's failure is remembered for its class's time`(error: DownloadError, seconds: Int) {
        var memory = memory
        memory.remember(error, of: .path("/a"), atMost: nil, at: .seconds(100))
        #expect(memory.failure(of: .path("/a"), at: .seconds(99 + seconds)) == error)
        #expect(memory.failure(of: .path("/a"), at: .seconds(100 + seconds)) == nil)
        #expect(memory.failure(of: .path("/b"), at: .seconds(100)) == nil)
    }

    @Test(
        arguments: [
            .sourceNotAllowed(""), .tooLarge, .receiptCanceled, .queueFull, .shuttingDown, .notCached, .internal(""),
        ]
            as [DownloadError])
    func `local limits, rejections and cancellations are never remembered`(error: DownloadError) {
        var memory = memory
        memory.remember(error, of: .path("/a"), atMost: nil, at: .zero)
        #expect(memory.count == 0)
    }

    @Test func `an origin can shorten the time, not extend it`() {
        var memory = memory
        memory.remember(.notFound(404), of: .path("/a"), atMost: .seconds(2), at: .zero)
        memory.remember(.notFound(404), of: .path("/b"), atMost: .seconds(900), at: .zero)
        memory.remember(.notFound(404), of: .path("/c"), atMost: .zero, at: .zero)
        #expect(memory.failure(of: .path("/a"), at: .seconds(2)) == nil)
        #expect(memory.failure(of: .path("/b"), at: .seconds(60)) == nil)
        #expect(memory.count == 2)
    }

    @Test func `the memory of failures is bounded, and forgets one or all on request`() {
        var memory = memory
        for number in 0..<100 {
            memory.remember(.status(500), of: .path("/\(number)"), atMost: nil, at: .seconds(number))
            #expect(memory.count <= 4)
            #expect(memory.failure(of: .path("/\(number)"), at: .seconds(number)) != nil)
        }
        memory.forget(.path("/99"))
        #expect(memory.failure(of: .path("/99"), at: .seconds(99)) == nil)
        memory.removeAll()
        #expect(memory.count == 0)
    }
}
