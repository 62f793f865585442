import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// TIFF files with unusual colors, and pages that are not images.
struct TIFFKindTests {
    private static let size = PixelSize(width: 40, height: 30)

    private static func page(
        _ color: [Int] = [255, 0, 0], _ change: (inout TIFFWriter.Page) -> Void = { _ in }
    ) -> TIFFWriter.Page {
        var page = TIFFWriter.Page(size) { _, _ in color }
        change(&page)
        return page
    }

    @Test(arguments: [
        (8, [136, 80, 67], [255, 0, 0]), (8, [255, 0, 0], [255, 255, 255]), (8, [83, 79, 0x94], [21, 0, 255]),
        (16, [34_870, 20_480, 17_152], [255, 0, 0]),
    ])
    func `CIELAB is converted`(bits: Int, samples: [Int], color: [Int]) throws {
        let file = TIFFWriter([Self.page(samples) { ($0.kind, $0.bits) = (.lab, bits) }]).file
        for level in [1, 4] {
            let image = try decode(file, DecodePlan(level: level))
            #expect(image.bands == 3 && image.size.width == 40 / level)
            #expect(image.isClose(x: 3, y: 3, to: color, tolerance: 8), "\(image.pixel(x: 3, y: 3))")
        }
    }

    @Test func `Zstandard is decoded`() throws {
        let file = TIFFWriter([Self.page([9, 200, 30]) { $0.compression = 50_000 }]).file
        #expect(try decode(file).pixel(x: 30, y: 20) == [9, 200, 30])
    }

    @Test func `JPEG tiles of many scans are rejected, and each tile has its cost`() throws {
        let side = PixelSize(width: 16, height: 16)
        let jpeg = ImageFixture.file(SampleImage.plain(side, [90, 90, 90]), as: .jpeg)
        let scan = try #require((0..<jpeg.count - 1).last { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xDA })
        func file(scans: Int) -> [UInt8] {
            let tile = jpeg[..<scan] + (0..<scans).flatMap { _ in jpeg[scan..<jpeg.count - 2] } + [0xFF, 0xD9]
            return TIFFWriter([
                Self.page { ($0.size, $0.isTiled, $0.compression, $0.tile) = (side, true, 7, Array(tile)) }
            ]).file
        }
        #expect(try decode(file(scans: 1)).size == side)
        #expect(throws: ImagingError.self) { try decode(file(scans: 51)) }
        let plain = TIFFWriter([Self.page { ($0.size, $0.isTiled) = (side, true) }]).file
        let (coded, stored) = (try inspect(file(scans: 1)), try inspect(plain))
        #expect(coded.timeCost(of: DecodePlan()) > stored.timeCost(of: DecodePlan()) + .microseconds(5))
    }

    @Test func `copies of other pages do not count`() throws {
        let copy = Self.page([0, 255, 0]) { ($0.size, $0.subfile) = (PixelSize(width: 10, height: 8), 1) }
        let profiled = Self.page {
            $0.profile = ICCWriter.profile(primaries: [[0.6, 0.3, 0], [0.2, 0.6, 0.1], [0.15, 0.07, 0.7]])
        }
        let file = TIFFWriter([copy, profiled, copy, Self.page([0, 0, 255])]).file
        let header = try inspect(file)
        #expect(header.size == Self.size && header.frames == 2 && header.pages.isEmpty == false)
        #expect(header.colors.space == .other && header.profileByteCount > 0)
        #expect(try decode(file, DecodePlan(page: 1)).pixel(x: 3, y: 3) == [0, 0, 255])
        #expect(try decode(file).size == Self.size)
        let alone = TIFFWriter([copy, copy]).file
        #expect(try inspect(alone).frames == 2 && decode(alone, DecodePlan(page: 1)).pixel(x: 1, y: 1) == [0, 255, 0])
    }

    @Test(arguments: [
        ("of floating-point numbers", 32, 3, 1), ("of signed numbers", 8, 2, 1), ("of 32 bits a sample", 32, 1, 1),
        ("of old-style JPEG", 8, 1, 6), ("of LERC", 8, 1, 34_887), ("of WebP", 8, 1, 50_001),
    ])
    func `an unsupported kind is reported`(kind: String, bits: Int, format: Int, compression: Int) {
        let file = TIFFWriter([
            Self.page { ($0.bits, $0.sampleFormat, $0.compression) = (bits, format, compression) }
        ]).file
        #expect(throws: ImagingError.unsupported("a TIFF \(kind)")) { try inspect(file) }
    }

    private func decode(_ file: [UInt8], _ plan: DecodePlan = DecodePlan()) throws -> DecodedImage {
        try ImageLibrary.start()
        let bytes = SharedBytes(file)
        return try ImageDecoder.decode(
            bytes, header: .inspect(bytes), plan: plan, limits: .none, token: WorkToken())
    }
}
