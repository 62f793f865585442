package import Memory
package import Recipes

/// Files that cost a careless decoder time or memory out of all proportion to their length.
package enum ImageTrap: String, CaseIterable, Sendable {
    /// A few bytes that claim a canvas of 16383×16383.
    case webpCanvas
    /// A megabyte of 30000×30000 pixels of one bit.
    case pngGiant
    /// A small JPEG whose size was patched to 64250×64250 (CVE-2019-13655).
    case jpegPatchedSize
    /// Two thousand scans of a small image.
    case jpegScans
    /// Twenty thousand frames.
    case gifFrames, webpFrames
    /// 48 megapixels in scans, which a decoder holds whole at any level.
    case jpegCoefficients
    /// A profile, and a text, that inflate to 200 MB.
    case pngProfile, pngText
    /// A profile of 8 MB.
    case jpegProfile
    /// A single column of 65,400 pixels, as a GIF and as a PNG.
    case gifColumn, pngColumn

    /// Files whose header alone is a reason to refuse them, if all their frames are wanted.
    package static let rejected: [ImageTrap] = [
        .webpCanvas, .pngGiant, .jpegPatchedSize, .jpegScans, .gifFrames, .webpFrames,
    ]

    package var bytes: SharedBytes { SharedBytes(array) }

    private static let frames = 20_000
    private static let inflated = 200_000_000
    private static var column: SampleImage { SampleImage.plain(PixelSize(width: 1, height: 65_400), [30, 60, 90]) }

    private var array: [UInt8] {
        switch self {
        case .webpCanvas: ImageFixture.giantWebP
        case .pngGiant: Self.oneBit
        case .jpegPatchedSize: ImageFixture.giantJPEG
        case .jpegScans: ImageFixture.jpegManyScans.array
        case .gifFrames: Self.repeated(ImageFixture.gifAnimated.array, Self.gifFrame, frames: Self.frames)
        case .webpFrames:
            Self.measured(Self.repeated(ImageFixture.webpAnimated.array, Self.webpFrame, frames: Self.frames))
        case .jpegCoefficients: Self.progressive(PixelSize(width: 8_000, height: 6_000))
        case .pngProfile: Self.png("iCCP", Array("P\0\0".utf8) + Zlib.zeros(Self.inflated))
        case .pngText: Self.png("zTXt", Array("T\0\0".utf8) + Zlib.zeros(Self.inflated))
        case .jpegProfile: Self.profiled(ImageFixture.jpeg.array, byteCount: 8_000_000)
        case .gifColumn: ImageFixture.file(Self.column, as: .gif)
        case .pngColumn: ImageFixture.file(Self.column, as: .png)
        }
    }

    private static var oneBit: [UInt8] {
        var writer = PNGWriter(width: 30_000, height: 30_000, colorType: .gray)
        writer.bitDepth = 1
        return writer.file(deflated: Zlib.zeros(30_000 * 3_751))
    }

    /// A flat gray image in scans, with chroma at quarter size.
    package static func progressive(_ size: PixelSize) -> [UInt8] {
        var writer = JPEGWriter(width: size.width, height: size.height, components: 3)
        writer.isProgressive = true
        writer.sampling = [(2, 2), (1, 1), (1, 1)]
        return writer.file { _, _ in [128, 128, 128] }
    }

    private static func png(_ type: String, _ data: [UInt8]) -> [UInt8] {
        var writer = PNGWriter(width: 64, height: 48, colorType: .rgb)
        writer.chunks = [(type, data)]
        return writer.file { x, y in [x, y, 0] }
    }

    /// With a profile of zeros in as many parts as it takes.
    private static func profiled(_ file: [UInt8], byteCount: Int) -> [UInt8] {
        let most = 65_519
        let parts = (byteCount + most - 1) / most
        let segments = (1...parts).flatMap { part in
            let count = min(most, byteCount - (part - 1) * most)
            let data = Array("ICC_PROFILE\0".utf8) + [UInt8(part), UInt8(parts)] + [UInt8](repeating: 0, count: count)
            return [0xFF, 0xE2] + (data.count + 2).bigEndian16 + data
        }
        return file[0..<2] + segments + file[2...]
    }

    /// The animation with its last frame so often that there are `frames` of them.
    private static func repeated(
        _ file: [UInt8], _ frame: ([UInt8]) -> Range<Int>, frames: Int
    ) -> [UInt8] {
        let last = frame(file)
        var result = Array(file[..<last.upperBound])
        result.reserveCapacity(file.count + frames * last.count)
        for _ in ImageFixture.frames..<frames { result += file[last] }
        return result + file[last.upperBound...]
    }

    /// From the last graphic control extension to the trailer.
    private static func gifFrame(_ file: [UInt8]) -> Range<Int> {
        guard let start = file.indices.dropLast(2).last(where: { file[$0...].starts(with: [0x21, 0xF9, 0x04]) }) else {
            fatalError("an animation without frames")
        }
        return start..<file.count - 1
    }

    /// The last `ANMF` chunk, which ends the file.
    private static func webpFrame(_ file: [UInt8]) -> Range<Int> {
        let name = Array("ANMF".utf8)
        guard let start = file.indices.dropLast(3).last(where: { file[$0...].starts(with: name) }) else {
            fatalError("an animation without frames")
        }
        return start..<file.count
    }

    /// With the right length in the header.
    private static func measured(_ file: [UInt8]) -> [UInt8] {
        file[..<4] + (file.count - 8).littleEndian32 + file[8...]
    }
}
