import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

struct WebPMetadataTests {
    private func removed(from file: [UInt8]) -> [UInt8] { WebPMetadata.removed(from: SharedBytes(file)).array }

    private static let extras = [WebPFile.chunk("EXIF", [1, 2, 3]), WebPFile.chunk("XMP ", [4])]

    @Test func `a plain image loses its metadata and the extended header`() {
        let picture = WebPFile.lossy(300, 200)
        let file = WebPFile.file([WebPFile.canvas(300, 200, flags: 0b1100), picture] + Self.extras)
        #expect(removed(from: file) == WebPFile.file([picture]))
    }

    @Test func `other flags of the extended header stay`() {
        let rest = [WebPFile.chunk("ALPH", [7, 8, 9]), WebPFile.lossy(300, 200)]
        let file = WebPFile.file([WebPFile.canvas(300, 200, flags: 0b11100)] + rest + Self.extras)
        #expect(removed(from: file) == WebPFile.file([WebPFile.canvas(300, 200, flags: 0b10000)] + rest))
    }

    @Test func `a file without metadata is unchanged`() {
        let file = WebPFile.file([WebPFile.lossless(30, 20, hasAlpha: true)])
        #expect(removed(from: file) == file)
    }

    @Test(arguments: 0..<40)
    func `a truncated file is returned unchanged`(count: Int) {
        let file = Array(WebPFile.file([WebPFile.canvas(300, 200, flags: 8)] + Self.extras).prefix(count))
        // Only a file that is cut after a whole chunk looks complete.
        if count != 12 && count != 30 { #expect(removed(from: file) == file) }
    }

    @Test(arguments: [ImageFixture.webp, .webpHalfTransparent, .webpAnimated])
    func `the encoder's files have no metadata and are readable`(fixture: ImageFixture) throws {
        let file = fixture.array
        for name in ["EXIF", "XMP ", "ICCP"] {
            let isThere = file.indices.dropLast(3).contains { file[$0..<$0 + 4].elementsEqual(name.utf8) }
            #expect(!isThere, "\(name)")
        }
        let image = try ImageReading.decode(SharedBytes(file))
        #expect(image.size == ImageFixture.size)
        #expect(image.bands == (fixture == .webpHalfTransparent ? 4 : 3))
        #expect(image.frames == (fixture == .webpAnimated ? ImageFixture.frames : 1))
    }
}
