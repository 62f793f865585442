import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging

/// Files that lack their end, and files that lack pixels.
@Suite(.timeLimit(.minutes(1)))
struct MissingEndTests {
    /// A file and how many bytes of its end hold no pixel.
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

    /// A still with a chunk of EXIF at its end.
    private static var webpWithMetadata: [UInt8] {
        let picture = ImageFixture.photo(width: 120, height: 90, format: .webp).array[12...]
        let canvas = [119.littleEndian32.prefix(3), 89.littleEndian32.prefix(3)].flatMap { $0 }
        let body =
            Array("WEBPVP8X".utf8) + 10.littleEndian32 + [0x08, 0, 0, 0] + canvas + picture + Array("EXIF".utf8)
            + 10.littleEndian32 + [UInt8](repeating: 0, count: 10)
        return Array("RIFF".utf8) + body.count.littleEndian32 + body
    }

    @Test(arguments: ends.indices, ImageDecoder.Lane.allCases)
    func `15: what lacks only its end is decoded like the whole`(index: Int, lane: ImageDecoder.Lane) throws {
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
    func `15: what lacks pixels is refused, or shows those that it has`(format: ImageFormat, share: Double) throws {
        let file = ImageFixture.photo(width: 192, height: 160, format: format).array
        let cut = SharedBytes(file.prefix(Int(Double(file.count) * share)))
        // libvips decodes no part of a WebP.
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
            // Of a WebP rows come late.
            if format == .webp, share < 0.7 { continue }
            let part = try pixels(image).count / 8
            #expect(try pixels(image).prefix(part) == pixels(whole).prefix(part))
        }
    }

    /// What shows: rows of planes are filled up with what means nothing.
    private func pixels(_ image: DecodedImage) throws -> [UInt8] {
        try image.interleaved(token: WorkToken()).pixels.array
    }

    @Test func `15: rows that a PNG lacks are gray and opaque`() throws {
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
    func `15: of an animation that is cut all but the last frame is whole`(lane: ImageDecoder.Lane) throws {
        let file = SharedBytes(ImageFixture.gifAnimated.array.dropLast(12))
        for page in 0...1 { #expect(try Judgement(file, DecodePlan(page: page), lane: lane) == .whole) }
        #expect(try Judgement(file, DecodePlan(page: 2), lane: lane) == .undecodable)
        #expect(try Judgement(file, DecodePlan(isAnimated: true), lane: lane) == .undecodable)
        #expect(try Judgement(file, DecodePlan(isAnimated: true, mostFrames: 2), lane: lane) == .whole)
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

    @Test func `15: damage is no missing end`() throws {
        var file = ImageFixture.photo(width: 120, height: 90, format: .png).array
        // A chunk's checksum, in front of the last chunk.
        file[file.count - 13] ^= 1
        for level in [1, 8] {
            #expect(throws: ImagingError.self) {
                try Judgement.decode(SharedBytes(file), DecodePlan(level: level), lane: .vips)
            }
        }
    }

    @Test func `18: a refusal of a PNG says why, and of this one`() throws {
        var interlaced = ImageFixture.pngInterlaced.array
        interlaced[60] ^= 0xFF
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
