import Coordination
import Downloading
import Recipes
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

/// The order of work on the worker threads.
@Suite(.timeLimit(.minutes(1)))
struct RenderOrderTests {
    @Test func `renders from cached pixels do not precede an earlier decode`() async throws {
        let codec = WatchedCodec()
        let fixture = try PipelineFixture(workerCount: 1, codec: codec)
        fixture.origin.serve(SampleFiles.jpeg, at: "/b")
        _ = try await fixture.thumbnail()
        let hold = await fixture.holdWorkers()
        func start(_ path: String, width: Int) -> Task<Thumbnail, any Error> {
            Task { try await fixture.thumbnail(path, width: width, format: .fixed(.avif)) }
        }
        var tasks: [Task<Thumbnail, any Error>] = []
        for (index, (path, width)) in [("/a", 19), ("/b", 20), ("/a", 18), ("/a", 17)].enumerated() {
            tasks.append(start(path, width: width))
            try await fixture.workersWaitedFor(index + 1)
        }
        codec.work.withLock { $0 = [] }
        hold.release()
        for task in tasks { _ = try await task.value }
        let work = codec.work.withLock { $0 }
        #expect(Array(work.prefix(2)) == [19, nil], "the decode has its turn")
        #expect(Set(work) == [19, nil, 18, 17, 20])
    }
}
