import DiskCaching
import Memory
import Recipes
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

struct RenderedImageTests {
    private func rendered(_ bytes: [UInt8]) -> RenderedImage {
        RenderedImage(
            EncodedImage(bytes: SharedBytes(bytes), format: .png, size: PixelSize(width: 1, height: 1)))
    }

    @Test func `the tag is a prefix of the bytes' SHA-256, in any process`() {
        #expect(rendered(Array("abc".utf8)).eTag == "\"ungWv48Bz-pBQUDeXa4iIw\"")
    }

    @Test func `equal bytes have equal tags, and different ones different tags`() {
        #expect(rendered([1, 2]).eTag == rendered([1, 2]).eTag)
        #expect(rendered([1, 2]).eTag != rendered([2, 1]).eTag)
    }

    @Test(arguments: [nil, 57]) func `the disk stores a searched quality`(quality: Int?) throws {
        let image = EncodedImage(
            bytes: SharedBytes([1]), format: .jpeg, size: PixelSize(width: 3, height: 2), quality: quality)
        let read = try #require(RenderedImage(RenderedImage(image).value))
        #expect(read.image.quality == quality && read.image.size == image.size)
        #expect(read.eTag == RenderedImage(image).eTag)
    }

    @Test(arguments: [nil, 57]) func `the disk stores whether a file has a gain map`(quality: Int?) throws {
        let image = EncodedImage(
            bytes: SharedBytes([1]), format: .jpeg, size: PixelSize(width: 3, height: 2), quality: quality,
            hasGainMap: true)
        let read = try #require(RenderedImage(RenderedImage(image).value))
        #expect(read.image.quality == quality && read.image.hasGainMap)
    }

    @Test func `an entry of an earlier release without a quality is read`() throws {
        var writer = RecordWriter()
        writer.write("jpeg")
        writer.write(3)
        writer.write(2)
        writer.write("\"a\"")
        let read = try #require(RenderedImage(CacheValue(head: writer.bytes, body: SharedBytes([1]))))
        #expect(read.image.quality == nil && read.eTag == "\"a\"")
        writer.write(57)
        writer.write(1)
        let longer = RenderedImage(CacheValue(head: writer.bytes, body: SharedBytes([1])))
        #expect(longer == nil)
    }

    @Test func `an entry that states that it has no gain map is invalid, because none is written so`() {
        var writer = RecordWriter()
        writer.write("jpeg")
        writer.write(3)
        writer.write(2)
        writer.write("\"a\"")
        writer.write(57)
        #expect(RenderedImage(CacheValue(head: writer.bytes, body: SharedBytes([1]))) != nil)
        writer.write(false)
        #expect(RenderedImage(CacheValue(head: writer.bytes, body: SharedBytes([1]))) == nil)
    }

    @Test func `the cost is at least the file's size`() {
        #expect(rendered([UInt8](repeating: 7, count: 9_000)).cost >= 9_000)
    }
}
