package import Memory
package import Recipes

/// Small files that need too much time or memory in a careless decoder.
package enum ImageTrap: String, CaseIterable, Sendable {
    /// a few bytes that declare a canvas of 16383×16383
    case webpCanvas
    /// a megabyte with 30000×30000 one-bit pixels
    case pngGiant
    /// a small JPEG whose size was changed to 64250×64250 (CVE-2019-13655)
    case jpegPatchedSize
    /// a small image with two thousand scans
    case jpegScans
    /// twenty thousand frames
    case gifFrames, webpFrames
    /// 48 megapixels in scans, which a decoder holds completely at any level
    case jpegCoefficients
    /// a profile or text that inflates to 200 MB
    case pngProfile, pngText
    /// a profile of 8 MB
    case jpegProfile
    /// a single column of 65,400 pixels
    case gifColumn, pngColumn

    /// Files that are rejected by their header if all frames are requested.
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

    /// A flat gray progressive JPEG with 4:2:0 chroma.
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

    /// Adds a profile of zeros, in several segments if necessary.
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

    /// Repeats the last frame until the animation has `frames` of them.
    private static func repeated(
        _ file: [UInt8], _ frame: ([UInt8]) -> Range<Int>, frames: Int
    ) -> [UInt8] {
        let last = frame(file)
        var result = Array(file[..<last.upperBound])
        result.reserveCapacity(file.count + frames * last.count)
        for _ in ImageFixture.frames..<frames { result += file[last] }
        return result + file[last.upperBound...]
    }

    /// The range from the last graphic control extension to the trailer.
    private static func gifFrame(_ file: [UInt8]) -> Range<Int> {
        guard let start = file.indices.dropLast(2).last(where: { file[$0...].starts(with: [0x21, 0xF9, 0x04]) }) else {
            fatalError("an animation without frames")
        }
        return start..<file.count - 1
    }

    /// Range of the last `ANMF` chunk, which ends the file.
    private static func webpFrame(_ file: [UInt8]) -> Range<Int> {
        let name = Array("ANMF".utf8)
        guard let start = file.indices.dropLast(3).last(where: { file[$0...].starts(with: name) }) else {
            fatalError("an animation without frames")
        }
        return start..<file.count
    }

    /// Corrects the length in the header.
    private static func measured(_ file: [UInt8]) -> [UInt8] {
        file[..<4] + (file.count - 8).littleEndian32 + file[8...]
    }
}
