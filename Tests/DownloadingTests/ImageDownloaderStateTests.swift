import Coordination
import Testing

@testable import Downloading

struct ImageDownloaderStateTests {
    @Test func `callers are answered in order of arrival, each once`() throws {
        var state = ImageDownloaderState<Int>(DownloadConfiguration())
        var fetch: UInt64?
        let request = SourceRequest(identity: .path("/a"))
        // Announced in reverse: the order of arrival counts.
        for (number, id) in (0..<50).map({ _ in state.makeWaiterID() }).reversed().enumerated() {
            let admission = state.join(
                id, request: request, receipt: "\(number)", deadline: nil, at: .zero, continuation: number,
                cached: { _ in nil })
            if case .waiting(let toStart, _) = admission, let action = toStart.first { fetch = action.fetch }
        }
        let cancelled = state.leave(receipt: "7")
        #expect(cancelled.continuations == [7] && cancelled.abandoned.isEmpty)
        let completion = state.finish(try #require(fetch), at: .zero)
        #expect(completion.waiters.map(\.continuation) == (0..<50).filter { $0 != 7 })
        let again = state.finish(try #require(fetch), at: .zero)
        #expect(again.waiters.isEmpty)
    }

    @Test(arguments: [DownloadConfiguration.Order.fifo, .lifo])
    func `a tenant's flood neither fills the queue nor delays another's fetch`(
        order: DownloadConfiguration.Order
    ) throws {
        var configuration = DownloadConfiguration()
        configuration.order = order
        configuration.maximumActiveDownloads = 4
        configuration.maximumQueuedDownloads = 8
        var state = ImageDownloaderState<String>(configuration)
        var (started, waiting, rejected): ([(UInt64, String)], Int, Int) = ([], 0, 0)
        func enter(_ path: String, _ flow: Flow) {
            let admission = state.join(
                state.makeWaiterID(), request: SourceRequest(identity: .path("/", host: "\(path).test"), flow: flow),
                receipt: "",
                deadline: nil, at: .zero, continuation: path, cached: { _ in nil })
            switch admission {
            case .waiting(let toStart, _):
                started += toStart.map { ($0.fetch, $0.request.identity.url.host) }
                waiting += toStart.isEmpty ? 1 : 0
            default: rejected += 1
            }
        }
        let (flood, victim) = (Flow.tenant(1), Flow.tenant(2))
        for number in 0..<100 { enter("a\(number)", flood) }
        #expect(started.count == 3 && waiting == 4 && rejected == 93)
        for number in 0..<3 { enter("b\(number)", victim) }
        #expect(started.map(\.1).last == "b0.test" && waiting == 6 && rejected == 93)
        // The transfer gets the next slot although others have waited longer.
        let next = state.finish(started[0].0, at: .zero).toStart.map(\.request.identity.url.host)
        #expect(next == [order == .fifo ? "b1.test" : "b2.test"])
    }
}
