import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// The cache policy of a named origin, and the formats that it may send.
@Suite(.timeLimit(.minutes(1)))
struct OriginPolicyTests {
    private func job(
        _ width: Int, receipt: String = "receipt", _ change: (inout Origin) -> Void
    ) throws -> Job {
        var origin = Origin(name: "shop", location: .web(base: try SourceURL(parsing: "http://example.com/")))
        change(&origin)
        let identity = try DownloadRules(DownloadConfiguration(origins: [origin])).identity(of: "shop:a")
        let request = Request.path(width: width)
        return Job(ResolvedRequest(request, sources: .success(PerSource(identity))), receipt: receipt)
    }

    private func fixture(folder: TemporaryFolder) throws -> PipelineFixture {
        let fixture = try PipelineFixture(diskFolder: folder.path)
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=60", eTag: "\"one\"")
        return fixture
    }

    @Test(arguments: OriginCachePolicy.allCases)
    func `a policy decides what memory and disk keep`(policy: OriginCachePolicy) async throws {
        let folder = TemporaryFolder()
        let fixture = try fixture(folder: folder)
        func thumbnail(_ width: Int) async throws -> Thumbnail {
            try await fixture.pipeline.thumbnail(for: job(width) { $0.cachePolicy = policy })
        }
        let first = try await thumbnail(20)
        #expect(first.freshness.lifetime == 60)
        #expect(try await thumbnail(20).image.bytes.array == first.image.bytes.array)
        #expect(fixture.origin.loads == (policy == .none ? 2 : 1) && fixture.renders == (policy == .none ? 2 : 1))
        _ = try await thumbnail(24)
        #expect(fixture.origin.loads == [.all: 1, .results: 2, .none: 3][policy])
        #expect(fixture.decodes == [.all: 1, .results: 2, .none: 3][policy])
        let memory = fixture.caches.memory
        let counts = [
            memory.records.statistics, memory.results.statistics, memory.sources.statistics, memory.decoded.statistics,
        ].map(\.usage.entries)
        #expect(counts == [.all: [1, 2, 1, 1], .results: [1, 2, 0, 0], .none: [0, 0, 0, 0]][policy])
        let identity = try job(20) { $0.cachePolicy = policy }.sources.main
        let version = SourceVersion(source: identity, validator: .entityTag("\"one\""))
        let disk = try #require(fixture.caches.localBelowMemory.first)
        #expect((await disk.lookup(.source(version)).value != nil) == (policy == .all))
        #expect((await disk.lookup(.record(identity)).value != nil) == (policy != .none))
    }

    @Test(arguments: OriginCachePolicy.allCases)
    func `requests share a fetch under every cache policy`(policy: OriginCachePolicy) async throws {
        let folder = TemporaryFolder()
        let fixture = try fixture(folder: folder)
        let gate = fixture.origin.hold()
        let callers = try (0..<20).map { number in
            let job = try job(20, receipt: "\(number)") { $0.cachePolicy = policy }
            return Task.immediate { try await fixture.pipeline.thumbnail(for: job) }
        }
        #expect(await eventually { fixture.downloader.fetches.first?.receipts.count == 20 })
        gate.open()
        for caller in callers { #expect(try await caller.value.image.size.width == 20) }
        #expect(fixture.origin.loads == 1)
    }

    @Test(arguments: [(0, 0), (64 * 48 - 1, 0), (64 * 48 * 3, 1)])
    func `decoded images above a size are not kept`(largest: Int, entries: Int) async throws {
        let folder = TemporaryFolder()
        let fixture = try fixture(folder: folder)
        for width in [64, 60] {
            _ = try await fixture.pipeline.thumbnail(for: job(width) { $0.maximumDecodedBytes = largest })
        }
        #expect(fixture.origin.loads == 1 && fixture.decodes == (entries == 1 ? 1 : 2))
        #expect(fixture.caches.memory.decoded.statistics.usage.entries == entries)
    }

    @Test func `a format that the origin should not send is rejected, also from the caches`() async throws {
        let folder = TemporaryFolder()
        let fixture = try fixture(folder: folder)
        for _ in 0..<2 {
            await #expect(throws: ImagingError.formatNotAccepted(.jpeg)) {
                try await fixture.pipeline.thumbnail(for: job(20) { $0.expectation.formats = ["png"] })
            }
        }
        #expect(fixture.decodes == 0)
        let accepted = try await fixture.pipeline.thumbnail(for: job(20) { $0.expectation.formats = ["png", "jpeg"] })
        #expect(accepted.image.size.width == 20)
    }

    @Test(arguments: [nil, [200, 404]] as [Set<Int>?])
    func `an expected status counts like 200 for caches`(statuses: Set<Int>?) throws {
        let identity = try job(20) { $0.expectation.statuses = statuses }.sources.main
        let date = HTTPDate(secondsSince1970: 1_000_000)
        let head = SourceHead(
            identity: identity, status: 404, validator: .entityTag("\"1\""), headerFields: [:], requestedAt: date,
            receivedAt: date)
        #expect(head.status == 404 && head.freshness.storability == (statuses == nil ? .unstated : .shared))
    }
}
