import Testing

@testable import Downloading

struct ImageDownloaderStateTests {
    @Test func `27: callers are answered in order of arrival, each once`() throws {
        var state = ImageDownloaderState<Int>(DownloadConfiguration())
        var fetch: UInt64?
        let request = SourceRequest(identity: .path("/a"))
        // Announced in the opposite order: what counts is when they come in.
        for (number, id) in (0..<50).map({ _ in state.announce() }).reversed().enumerated() {
            let admission = state.enter(
                id, request, receipt: "\(number)", deadline: nil, at: .zero, answer: number, cached: { _ in nil })
            if case .waiting(let starts, _) = admission, let action = starts.first { fetch = action.fetch }
        }
        let cancelled = state.leave(receipt: "7")
        #expect(cancelled.answers == [7] && cancelled.abandoned.isEmpty)
        let completion = state.finish(try #require(fetch), at: .zero)
        #expect(completion.answers.map(\.answer) == (0..<50).filter { $0 != 7 })
        let again = state.finish(try #require(fetch), at: .zero)
        #expect(again.answers.isEmpty)
    }
}
