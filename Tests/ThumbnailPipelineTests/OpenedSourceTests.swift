import Coordination
import DiskCaching
import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Sources that a call keeps while it renders many results.
@Suite struct OpenedSourceTests {
    private static func request(_ width: Int) -> Request {
        var request = Request(source: "upload", format: .fixed(.png))
        request.options.width = width
        return request
    }

    @Test func `an upload is decoded once for all results, and for a second upload of the same file`() async throws {
        let fixture = try PipelineFixture()
        let first = try await fixture.pipeline.open(upload: SampleFiles.jpeg)
        for width in [64, 60, 50] {
            let made = try await fixture.pipeline.thumbnail(of: first, for: Self.request(width))
            #expect(made.image.size.width == width)
        }
        #expect(fixture.decodes == 1 && fixture.origin.loads == 0)
        let second = try await fixture.pipeline.open(upload: SharedBytes(SampleFiles.jpeg.array))
        let again = try await fixture.pipeline.thumbnail(of: second, for: Self.request(64))
        #expect(again.cacheStatus.first == CacheLayerStatus(.result, outcome: .hit) && fixture.decodes == 1)
        _ = try await fixture.pipeline.thumbnail(of: second, for: Self.request(55))
        #expect(fixture.decodes == 1)
    }

    @Test func `the entity tag equals that of the same file fetched by URL`() async throws {
        let fixture = try PipelineFixture()
        let source = try await fixture.pipeline.open(upload: SampleFiles.jpeg)
        let uploaded = try await fixture.pipeline.thumbnail(of: source, for: Self.request(40))
        let fetched = try await fixture.thumbnail(width: 40, format: .fixed(.png))
        #expect(uploaded.eTag == fetched.eTag && uploaded.image.bytes.array == fetched.image.bytes.array)
    }

    @Test func `nothing of an upload is stored on disk`() async throws {
        let folder = TemporaryFolder()
        let fixture = try PipelineFixture(diskFolder: folder.path)
        let source = try await fixture.pipeline.open(upload: SampleFiles.jpeg)
        _ = try await fixture.pipeline.thumbnail(of: source, for: Self.request(40))
        await fixture.store?.shutDown(timeLimit: .seconds(20))
        #expect(fixture.store?.statistics.partitions.values.allSatisfy { $0.entries == 0 } == true)
    }

    @Test func `events of an upload do not show its digest`() async throws {
        let fixture = try PipelineFixture()
        let source = try await fixture.pipeline.open(upload: SampleFiles.jpeg)
        _ = try await fixture.pipeline.thumbnail(of: source, for: Self.request(40))
        let urls = fixture.log.events(after: 0).map(\.event).compactMap { event -> String? in
            switch event {
            case .decode(let url, _, _): return url
            case .render(let url, _, _): return url
            default: return nil
            }
        }
        #expect(urls == ["upload:", "upload:"])
    }

    @Test(arguments: ["given://x/", "given://0123456789abcdef/"])
    func `no client can name an uploaded image`(url: String) throws {
        #expect(throws: SourceURLError.self) { try PipelineFixture().downloader.identity(of: ExactText(url)) }
    }

    @Test func `a source is fetched once, and cached under its own name if it is cacheable`() async throws {
        let fixture = try PipelineFixture()
        let source = try await fixture.pipeline.open(
            for: Job(fixture.pipeline.resolved(.path()), receipt: "r"))
        for width in [64, 60] {
            _ = try await fixture.pipeline.thumbnail(of: source, for: Self.request(width))
        }
        fixture.pipeline.close(source)
        #expect(fixture.origin.loads == 1 && fixture.decodes == 1)
        let later = try await fixture.thumbnail(width: 60, format: .fixed(.png))
        #expect(later.cacheStatus == [CacheLayerStatus(.result, outcome: .hit)])
    }

    @Test func `an uncacheable source is fetched and decoded once, and nothing is stored`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "no-store")
        let source = try await fixture.pipeline.open(
            for: Job(fixture.pipeline.resolved(.path()), receipt: "r"))
        for width in [64, 60, 50] {
            _ = try await fixture.pipeline.thumbnail(of: source, for: Self.request(width))
        }
        #expect(fixture.origin.loads == 1 && fixture.decodes == 1)
        fixture.pipeline.close(source)
        #expect(fixture.caches.statistics.allSatisfy { $0.statistics.usage.entries == 0 })
    }

    @Test(arguments: ["no-store", "max-age=60"])
    func `all results of one level cost one decode, though the decoded cache has no space`(
        cacheControl: String
    ) async throws {
        let fixture = try PipelineFixture { ($0.decodedCacheCapacity, $0.decodedCachePreferred) = (100, 50) }
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: cacheControl)
        let source = try await fixture.pipeline.open(
            for: Job(fixture.pipeline.resolved(.path()), receipt: "r"))
        for width in 50..<66 {
            _ = try await fixture.pipeline.thumbnail(of: source, for: Self.request(width))
        }
        #expect(fixture.decodes == 1 && fixture.origin.loads == 1 && fixture.caches.memory.decoded.memoryUsage == 0)
    }

    @Test func `results at several levels cost one decode, and have the same bytes as apart`() async throws {
        let fixture = try PipelineFixture()
        let file = SharedBytes(ImageFixture.file(.texture(PixelSize(width: 1_280, height: 960)), as: .jpeg))
        let requests = [600, 300, 150, 70].map(Self.request)
        let (together, apart) = (try fixture.pipeline.open(file: file), try fixture.pipeline.open(file: file))
        await fixture.pipeline.decodeTogether(requests, of: together)
        var found: [[UInt8]] = []
        for request in requests {
            found.append(try await fixture.pipeline.thumbnail(of: together, for: request).image.bytes.array)
        }
        #expect(fixture.decodes == 1)
        for (request, bytes) in zip(requests, found) {
            #expect(try await fixture.pipeline.thumbnail(of: apart, for: request).image.bytes.array == bytes)
        }
        #expect(fixture.decodes == 5)
    }

    @Test func `a broken image fails for each result, though its levels are decoded together`() async throws {
        let fixture = try PipelineFixture()
        let file = ImageFixture.photo(width: 1_280, height: 960, format: .jpeg)
        let source = try fixture.pipeline.open(file: SharedBytes(0..<file.count / 2, of: file))
        let requests = [300, 150].map(Self.request)
        await fixture.pipeline.decodeTogether(requests, of: source)
        for request in requests {
            await #expect(throws: (any Error).self) { try await fixture.pipeline.thumbnail(of: source, for: request) }
        }
    }

    @Test func `work on an opened source is checked until it is admitted, and not again`() throws {
        let upload = try OpenedSource(upload: SampleFiles.jpeg, at: 0)
        let source = OpenedSource(upload.record, bytes: upload.bytes, isAdmitted: false)
        #expect(throws: WorkerPool.Full.self) {
            try source.admit { () throws(WorkerPool.Full) in throw WorkerPool.Full() }
        }
        var judged = 0
        for _ in 1...3 { source.admit { judged += 1 } }
        #expect(judged == 1)
        // A source that was fetched or hashed for the call was already checked.
        upload.admit { judged += 1 }
        #expect(judged == 1)
    }

    @Test func `the levels of a page are retained together, and other pages are evicted`() {
        func image(_ side: Int) -> DecodedImage {
            DecodedImage(
                pixels: SharedBytes([UInt8](repeating: 1, count: side * side)),
                size: PixelSize(width: side, height: side), bands: 1)
        }
        func key(_ page: Int, _ level: Int) -> DecodeKey {
            DecodeKey(
                source: SourceIdentity(uploaded: "x"), validator: .digest("x"),
                plan: DecodePlan(page: page, level: level))
        }
        let held = ImagesInUse()
        for level in [1, 2, 4, 8] { held.add(image(512 / level), for: key(0, level)) }
        #expect([1, 2, 4, 8].allSatisfy { held.contains(key(0, $0)) })
        // The most recently used image stays longest.
        #expect(held.image(for: key(0, 2))?.size.width == 256)
        held.add(image(512), for: key(1, 1))
        #expect(held.contains(key(1, 1)) && held.contains(key(0, 2)) && !held.contains(key(0, 1)))
        held.add(image(512), for: key(2, 1))
        #expect(held.contains(key(2, 1)) && !held.contains(key(1, 1)))
    }

    @Test func `facts and failures match the file's`() async throws {
        let fixture = try PipelineFixture()
        let source = try await fixture.pipeline.open(upload: SampleFiles.jpeg)
        var asked = FactsRequest()
        asked.features = [.blurHash]
        let facts = try await fixture.pipeline.facts(
            asked, for: Job(fixture.pipeline.resolved(Self.request(1), of: source), receipt: "r"))
        #expect(facts.byteCount == SampleFiles.jpeg.count && facts.appearance?.blurHash?.utf8.count == 28)
        await #expect(throws: ImagingError.notAnImage) { try await fixture.pipeline.open(upload: SampleFiles.text) }
        let cut = try await fixture.pipeline.open(upload: SampleFiles.truncated)
        await #expect(throws: ImagingError.self) {
            try await fixture.pipeline.thumbnail(of: cut, for: Self.request(20))
        }
    }
}
