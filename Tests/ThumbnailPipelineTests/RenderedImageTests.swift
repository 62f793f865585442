import Imaging
import Memory
import Testing

@testable import ThumbnailPipeline

struct RenderedImageTests {
    private func rendered(_ bytes: [UInt8]) -> RenderedImage {
        RenderedImage(
            EncodedImage(bytes: SharedBytes(bytes), format: .png, size: PixelSize(width: 1, height: 1)))
    }

    @Test func `the tag is the beginning of the bytes' SHA-256, in any process`() {
        #expect(rendered(Array("abc".utf8)).eTag == "\"ungWv48Bz-pBQUDeXa4iIw\"")
    }

    @Test func `equal bytes have equal tags, others have others`() {
        #expect(rendered([1, 2]).eTag == rendered([1, 2]).eTag)
        #expect(rendered([1, 2]).eTag != rendered([2, 1]).eTag)
    }

    @Test func `the cost is at least the file's size`() {
        #expect(rendered([UInt8](repeating: 7, count: 9_000)).cost >= 9_000)
    }
}
