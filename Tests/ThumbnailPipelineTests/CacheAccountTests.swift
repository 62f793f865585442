import CLinux
import Coordination
import Downloading
import Glibc
import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

/// The caches count at least the bytes that the allocator uses for their entries.
///
/// Otherwise clients could exceed the budget by requesting many entries of a kind that is counted as too small.
@Suite(.serialized, .unlessSanitized("its allocator does not tell what it holds"))
struct CacheAccountTests {
    private static let entries = 4_000

    /// Bytes that `body` keeps allocated, and the bytes that it returns as counted.
    private func growth(_ body: () throws -> Int) rethrows -> (taken: Int, counted: Int) {
        let before = Int(CLinux_allocated_bytes())
        let counted = try body()
        return (Int(CLinux_allocated_bytes()) - before, counted)
    }

    /// A file of a few bytes in a large block, as encoders return it.
    private static func file(_ count: Int) -> SharedBytes {
        guard let base = unsafe malloc(64 << 10) else { fatalError("out of memory") }
        unsafe memset(base, 1, count)
        return unsafe SharedBytes(heap: base, count: count)
    }

    private static func head(_ index: Int, pathLength: Int) throws -> SourceHead {
        let path = "/\(index)" + String(repeating: "x", count: pathLength)
        let url = try SourceURL(parsing: "https://images.example.com" + path)
        return SourceHead(
            identity: SourceIdentity(url: url), validator: .entityTag("\"\(index)-0123456789abcdef\""),
            headerFields: [
                .cacheControl: "public, max-age=3600", .contentType: "image/png",
                .eTag: "\"\(index)-0123456789abcdef\"",
                .date: "Sun, 06 Nov 1994 08:49:37 GMT", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
            ], requestedAt: HTTPDate(secondsSince1970: 1_000), receivedAt: HTTPDate(secondsSince1970: 1_000))
    }

    private static func plan(_ index: Int) -> RenderPlan {
        RenderPlan(resizedSize: PixelSize(width: 1 + index, height: 8), format: .png, quality: 80)
    }

    @Test(arguments: [10, 1_900]) func `the caches' counts cover their real memory`(pathLength: Int) throws {
        let fixture = try PipelineFixture {
            ($0.resultCacheCapacity, $0.resultCachePreferred) = (1 << 30, 1 << 30)
            ($0.decodedCacheCapacity, $0.decodedCachePreferred) = (1 << 30, 1 << 30)
            $0.sourceCacheMemory = 1 << 30
        }
        let caches = fixture.caches
        let header = try ImageHeader.inspect(SampleFiles.jpeg)
        func check(_ name: String, _ fill: (Int) throws -> Void, _ usage: () -> Int) throws {
            let (taken, counted) = try growth {
                let before = usage()
                for index in 0..<Self.entries { try fill(index) }
                return usage() - before
            }
            #expect(taken <= counted && counted < taken * 3, "\(name): \(taken) taken, \(counted) counted")
        }
        try check(
            "records",
            { index in
                let head = try Self.head(index, pathLength: pathLength)
                caches.memory.records.add(
                    SourceRecord(head, header: header, byteCount: 1), for: SourceKey(source: head.identity))
            }, { caches.memory.records.memoryUsage })
        try check(
            "sources",
            { index in
                let head = try Self.head(index, pathLength: pathLength)
                caches.memory.sources.add(
                    SourceBody(validator: head.validator, bytes: Self.file(67)), for: SourceKey(source: head.identity))
            }, { caches.memory.sources.memoryUsage })
        try check(
            "results",
            { index in
                let head = try Self.head(index, pathLength: pathLength)
                let key = ResultKey(source: head.identity, validator: head.validator, plan: Self.plan(index))
                let image = EncodedImage(bytes: Self.file(300), format: .png, size: PixelSize(width: 1, height: 8))
                caches.memory.results.add(RenderedImage(image), for: key)
            }, { caches.memory.results.memoryUsage })
        try check(
            "decoded",
            { index in
                let head = try Self.head(index, pathLength: pathLength)
                let key = DecodeKey(source: head.identity, validator: head.validator, plan: DecodePlan())
                let image = DecodedImage(
                    pixels: SharedBytes([1, 2, 3]), size: PixelSize(width: 1, height: 1), bands: 3)
                caches.memory.decoded.add(image, for: key)
            }, { caches.memory.decoded.memoryUsage })
        withExtendedLifetime(fixture) {}
    }

    @Test func `a result counts for at most 4 kB beyond its bytes`() throws {
        let head = try Self.head(1, pathLength: 100)
        let key = ResultKey(source: head.identity, validator: head.validator, plan: Self.plan(1))
        let image = RenderedImage(
            EncodedImage(bytes: Self.file(300), format: .png, size: PixelSize(width: 1, height: 8)))
        #expect(key.byteCount + image.cost - image.image.bytes.footprint <= 4_096)
    }

    @Test func `a document counts with all its pages`() throws {
        let page = try ImageHeader.inspect(SampleFiles.jpeg)
        let head = try Self.head(1, pathLength: 10)
        let one = SourceRecord(head, header: page, byteCount: 1)
        var records: [SourceRecord] = []
        let (taken, counted) = growth {
            for _ in 0..<100 {
                var document = ImageHeader(format: .tiff, storedSize: page.storedSize, frames: 4_096)
                document.pages = [ImageHeader](repeating: page, count: 4_096)
                records.append(SourceRecord(head, header: document, byteCount: 1))
            }
            return records.reduce(0) { $0 + $1.cost }
        }
        #expect(taken <= counted, "\(taken) taken, \(counted) counted")
        #expect(counted > 100 * 4_096 * 64 && one.cost < 4_096, "\(counted) counted, \(one.cost) for one page")
        withExtendedLifetime(records) {}
    }

    @Test(arguments: [ImageFormat.png, .jpeg, .webp, .gif, .avif, .jxl])
    func `a small result takes a small block`(format: ImageFormat) throws {
        try ImageLibrary.start()
        let image = try ImageRenderer.placeholder(
            color: Color(red: 200, green: 10, blue: 10), size: PixelSize(width: 31, height: 8), format: format,
            token: WorkToken(), codec: InProcessCodec())
        let bytes = image.bytes
        let size = unsafe bytes.withUnsafeBytes { unsafe CLinux_block_size($0.baseAddress) }
        #expect(bytes.footprint == size && size <= bytes.count + bytes.count / 4 + 64)
    }
}
