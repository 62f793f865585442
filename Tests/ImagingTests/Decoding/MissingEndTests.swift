import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Files that lack only their end, and files that lack pixels.
@Suite(.timeLimit(.minutes(1)))
struct MissingEndTests {
    /// A file, and the number of bytes at its end that contain no pixels.
    private static let ends: [(name: String, file: [UInt8], missing: Int)] = [
        ("a JPEG without its marker", ImageFixture.photo(width: 120, height: 90).array, 2),
        ("a small one in scans", ImageFixture.jpegProgressive.array, 2),
        ("one in CMYK", ImageFixture.jpegAdobeCMYK.array, 2),
        ("a PNG without its last chunk", ImageFixture.photo(width: 120, height: 90, format: .png).array, 12),
        ("and without a checksum", ImageFixture.photo(width: 120, height: 90, format: .png).array, 16),
        ("and without the sum of its rows", ImageFixture.photo(width: 120, height: 90, format: .png).array, 20),
        ("an interlaced one without it", ImageFixture.pngInterlaced.array, 20),
        ("a palette without it", ImageFixture.pngPalette.array, 20),
        ("a GIF without its trailer", ImageFixture.photo(width: 120, height: 90, format: .gif).array, 1),
        ("and without its last block", ImageFixture.photo(width: 120, height: 90, format: .gif).array, 2),
        ("an animation without it", ImageFixture.gifAnimated.array, 2),
        ("a WebP without metadata that it tells of", webpWithMetadata, 9),
    ]

    /// A still image with an EXIF chunk at its end.
    private static var webpWithMetadata: [UInt8] {
        let picture = ImageFixture.photo(width: 120, height: 90, format: .webp).array[12...]
        let canvas = [119.littleEndian32.prefix(3), 89.littleEndian32.prefix(3)].flatMap { $0 }
        let body =
            Array("WEBPVP8X".utf8) + 10.littleEndian32 + [0x08, 0, 0, 0] + canvas + picture + Array("EXIF".utf8)
            + 10.littleEndian32 + [UInt8](repeating: 0, count: 10)
        return Array("RIFF".utf8) + body.count.littleEndian32 + body
    }

    @Test(arguments: ends.indices, ImageDecoder.Lane.allCases)
    func `a file that lacks only its end is decoded completely`(index: Int, lane: ImageDecoder.Lane) throws {
        let (name, file, missing) = Self.ends[index]
        for level in [1, 2, 4, 8] {
            let isAnimated = try ImageHeader.inspect(SharedBytes(file)).frames > 1
            let plan = DecodePlan(level: level, isAnimated: isAnimated)
            let whole = try Judgement.decode(SharedBytes(file), plan, lane: lane)
            let cut = try Judgement.decode(SharedBytes(file.dropLast(missing)), plan, lane: lane)
            #expect(try !cut.isIncomplete && pixels(cut) == pixels(whole), "\(name), level \(level)")
        }
    }

    private static let photos = ImageFormat.trusted.filter(\.isWritten)

    @Test(arguments: photos, [0.4, 0.7, 0.95])
    func `a file without all pixels is rejected, or served in part`(format: ImageFormat, share: Double) throws {
        let file = ImageFixture.photo(width: 192, height: 160, format: format).array
        let cut = SharedBytes(file.prefix(Int(Double(file.count) * share)))
        // libvips decodes no incomplete WebP.
        let lanes: [ImageDecoder.Lane] = format == .webp ? [.planar] : ImageDecoder.Lane.allCases
        for lane in lanes {
            #expect(throws: ImagingError.self) { try Judgement.decode(cut, lane: lane) }
            let plan = DecodePlan(incompleteImages: .serve)
            let image = try Judgement.decode(cut, plan, lane: lane)
            #expect(image.isIncomplete && image.size == PixelSize(width: 192, height: 160))
            let again = try Judgement.decode(cut, plan, lane: lane)
            #expect(try pixels(again) == pixels(image))
            let whole = try Judgement.decode(SharedBytes(file), plan, lane: lane)
            #expect(!whole.isIncomplete)
            // The first rows of a WebP are complete only late in the file.
            if format == .webp, share < 0.7 { continue }
            let part = try pixels(image).count / 8
            #expect(try pixels(image).prefix(part) == pixels(whole).prefix(part))
        }
    }

    /// The visible pixels, without the padding of rows in planes.
    private func pixels(_ image: DecodedImage) throws -> [UInt8] {
        try image.interleavedInSRGB(token: WorkToken()).pixels.array
    }

    @Test func `missing rows of a PNG are gray and opaque`() throws {
        for bands in [3, 4] {
            let size = PixelSize(width: 100, height: 80)
            let picture = bands == 4 ? SampleImage.photoWithAlpha(size) : .photo(size)
            let file = ImageFixture.file(picture, as: .png)
            let image = try Judgement.decode(
                SharedBytes(file.prefix(file.count / 2)), DecodePlan(incompleteImages: .serve), lane: .vips)
            #expect(image.pixel(x: 50, y: 79) == [128, 128, 128] + (bands == 4 ? [255] : []))
        }
    }

    @Test(arguments: ImageDecoder.Lane.allCases)
    func `in a truncated animation all frames but the last are complete`(lane: ImageDecoder.Lane) throws {
        let file = SharedBytes(ImageFixture.gifAnimated.array.dropLast(12))
        for page in 0...1 { #expect(try Judgement(file, DecodePlan(page: page), lane: lane) == .whole) }
        #expect(try Judgement(file, DecodePlan(page: 2), lane: lane) == .undecodable)
        #expect(try Judgement(file, DecodePlan(isAnimated: true), lane: lane) == .undecodable)
        #expect(try Judgement(file, DecodePlan(isAnimated: true, maximumFrames: 2), lane: lane) == .whole)
        let served = DecodePlan(isAnimated: true, incompleteImages: .serve)
        #expect(try Judgement(file, served, lane: lane) == .incomplete)
    }

    @Test func `a GIF that ends within its last frame gets an end of that frame and a trailer`() throws {
        let whole = ImageFixture.photo(width: 120, height: 90, format: .gif).array
        let cut = SharedBytes(whole.dropLast(20))
        let plan = DecodePlan(incompleteImages: .serve)
        let repaired = try GIFRepair.repair(cut, header: try ImageHeader.inspect(cut), plan: plan)
        #expect(repaired.isIncomplete && repaired.bytes.count == cut.count + 2)
        #expect(repaired.bytes.array.suffix(2) == [0, 0x3B])
    }

    @Test(arguments: [true, false])
    func `a wrong checksum of complete rows is harmless, and otherwise ends the visible rows`(
        isInterlaced: Bool
    ) throws {
        var writer = PNGWriter(width: 40, height: 30, colorType: .rgb)
        (writer.isInterlaced, writer.rowsChunk) = (isInterlaced, 500)
        let file = writer.file { x, y in [5 * x, 7 * y, 90] }
        let whole = try pixels(Judgement.decode(SharedBytes(file), lane: .planar))
        // The checksum of the second chunk of rows, and then also the data of a later one.
        let second = 33 + 512 + 508
        var wrong = file
        wrong[second] ^= 1
        for lane in ImageDecoder.Lane.allCases {
            for level in [1, 8] {
                let image = try Judgement.decode(SharedBytes(wrong), DecodePlan(level: level), lane: lane)
                #expect(try level > 1 || pixels(image) == whole)
            }
        }
        wrong.removeLast(wrong.count / 2)
        #expect(throws: ImagingError.self) { try Judgement.decode(SharedBytes(wrong), lane: .planar) }
        let served = DecodePlan(incompleteImages: .serve)
        #expect(try Judgement.decode(SharedBytes(wrong), served, lane: .planar).isIncomplete)
    }

    @Test(arguments: [
        (PNGWriter.ColorType.rgb, 8, 3), (.rgba, 16, 4), (.gray, 8, 1), (.gray, 2, 1), (.palette, 4, 1),
        (.grayAlpha, 8, 2),
    ])
    func `a truncated interlaced PNG is coarse`(
        kind: (type: PNGWriter.ColorType, depth: Int, components: Int)
    ) throws {
        var writer = PNGWriter(width: 61, height: 43, colorType: kind.type)
        (writer.bitDepth, writer.isInterlaced) = (kind.depth, true)
        if kind.type == .palette { writer.palette = (0..<16).flatMap { [UInt8(16 * $0), 0, UInt8(255 - 16 * $0)] } }
        let maximum = 1 << kind.depth - 1
        let file = SharedBytes(
            writer.file { x, y in
                let sample = (x / 8 + y / 8) * maximum / 13
                let samples = [sample, maximum - sample, sample, maximum]
                return kind.type == .grayAlpha ? [sample, maximum] : Array(samples.prefix(kind.components))
            })
        let whole = try Judgement.decode(file, lane: .planar)
        // The first pass has complete blocks of eight pixels; it is a little more than a 64th of the file.
        let cut = SharedBytes(file.array.prefix(33 + 60 + (file.count - 120) / 24))
        let image = try Judgement.decode(cut, DecodePlan(incompleteImages: .serve), lane: .planar)
        #expect(image.isIncomplete && image.size == whole.size && image.bands == whole.bands)
        #expect(try pixels(image) == pixels(whole))
    }

    @Test func `a rejection of a PNG has its own reason`() throws {
        var interlaced = ImageFixture.pngInterlaced.array
        // The start of the compressed rows.
        interlaced[41] ^= 0xFF
        func detail(_ file: [UInt8]) throws -> String {
            let error = #expect(throws: ImagingError.self) { try Judgement.decode(SharedBytes(file), lane: .vips) }
            guard case .cannotDecode(let detail) = error else { return "" }
            return detail
        }
        let first = try detail(interlaced)
        #expect(!first.isEmpty && first != "libvips does not say why")
        var broken = ImageFixture.webpHalfTransparent.array
        for place in 40..<60 { broken[place] ^= 0x5A }
        let second = try detail(broken)
        #expect(!second.isEmpty && !second.contains(first), "\(second)")
    }
}
