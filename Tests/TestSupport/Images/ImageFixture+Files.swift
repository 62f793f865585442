import Coordination
import Imaging
import Memory
package import Recipes

extension ImageFixture {
    package var array: [UInt8] {
        switch self {
        case .jpeg: Self.file(Self.image, as: .jpeg, quality: 95)
        case .jpegGrayRamp: Self.file(.grayRamp(Self.size), as: .jpeg, quality: 95)
        case .jpegProgressive: Self.blocks(isProgressive: true).file { Self.luma($0, $1) }
        case .jpegAdobeCMYK: Self.adobeCMYK
        case .jpegSwappedPrimaries: JPEGWriter.profiled(ImageFixture.jpeg.array, Self.swappedProfile)
        case .jpegStandardProfile: JPEGWriter.profiled(ImageFixture.jpeg.array, ICCWriter.profile())
        case .jpegOrientation2: Self.oriented(2)
        case .jpegOrientation3: Self.oriented(3)
        case .jpegOrientation4: Self.oriented(4)
        case .jpegOrientation5: Self.oriented(5)
        case .jpegOrientation6: Self.oriented(6)
        case .jpegOrientation7: Self.oriented(7)
        case .jpegOrientation8: Self.oriented(8)
        case .png: Self.file(Self.image, as: .png)
        case .pngGrayRamp: Self.file(.grayRamp(Self.size), as: .png)
        case .pngHalfTransparent: Self.file(.halfTransparent(Self.size), as: .png)
        case .pngGrayAlpha, .pngOneBit, .pngPalette, .pngPaletteTransparent, .pngSixteenBit, .pngSixteenBitGray,
            .pngInterlaced, .pngOrientation6:
            unusualPNG
        case .webp: Self.file(Self.image, as: .webp, quality: 95)
        case .webpHalfTransparent: Self.file(.halfTransparent(Self.size), as: .webp)
        case .webpAnimated: Self.animation(frames: Self.frames, as: .webp)
        case .gif: Self.file(Self.image, as: .gif)
        case .gifAnimated: Self.animation(frames: Self.frames, as: .gif)
        case .avif: Self.file(Self.image, as: .avif)
        case .empty: []
        case .text: Array("<html>not a picture</html>".utf8)
        case .jpegTruncated: Self.firstHalf(Self.photo(width: 160, height: 120))
        case .pngTruncated: Self.firstHalf(Self.photo(width: 160, height: 120, format: .png))
        case .webpTruncated: Self.firstHalf(Self.photo(width: 160, height: 120, format: .webp))
        case .gifTruncated: Self.firstHalf(Self.photo(width: 160, height: 120, format: .gif))
        case .jpegHeadOnly: Array(ImageFixture.jpeg.array.prefix(200))
        case .jpegManyScans: Self.blocks(isProgressive: true, scans: 2_000).file { Self.luma($0, $1) }
        case .jpegGiant: Self.giantJPEG
        case .pngGiant: Self.giantPNG
        case .webpGiant: Self.giantWebP
        }
    }

    static let image = SampleImage.quarters(size)

    /// An animation of plain red, green, blue, red … frames, played five times; frame *n* lasts 100·(n+1) ms.
    package static func animation(frames: Int, as format: ImageFormat, size: PixelSize = size) -> [UInt8] {
        let colors: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
        let pixels = (0..<frames).flatMap { SampleImage.plain(size, colors[$0 % 3]).pixels }
        let image = DecodedImage(
            pixels: SharedBytes(pixels), size: size, bands: 3, frames: frames,
            delays: (0..<frames).map { 100 * ($0 + 1) }, loop: 5)
        let plan = RenderPlan(
            decode: DecodePlan(isAnimated: true), resizedSize: size, format: format,
            quality: format.encoderQuality(pixels: size.area))
        do {
            try ImageLibrary.start()
            return try ImageRenderer.render(image, plan: plan, token: WorkToken()).bytes.array
        } catch {
            fatalError("no animated \(format): \(error)")
        }
    }

    private static func firstHalf(_ bytes: SharedBytes) -> [UInt8] { Array(bytes.array.prefix(bytes.count / 2)) }

    /// An image that shows the quarters upright after its EXIF orientation is applied.
    private static func oriented(_ orientation: Int) -> [UInt8] {
        let stored =
            orientation < 5 ? size : PixelSize(width: size.height, height: size.width)
        let image = SampleImage(stored, bands: 3) { x, y in
            let place = upright(x, y, in: stored, orientation: orientation)
            let index = (place.y * size.width + place.x) * 3
            return Array(Self.image.pixels[index..<index + 3])
        }
        return JPEGWriter.oriented(file(image, as: .jpeg, quality: 95), orientation)
    }

    /// The position of a stored pixel after its orientation is applied.
    static func upright(_ x: Int, _ y: Int, in stored: PixelSize, orientation: Int) -> (x: Int, y: Int) {
        let right = stored.width - 1 - x
        let bottom = stored.height - 1 - y
        return switch orientation {
        case 2: (right, y)
        case 3: (right, bottom)
        case 4: (x, bottom)
        case 5: (y, x)
        case 6: (bottom, x)
        case 7: (bottom, right)
        case 8: (y, right)
        default: (x, y)
        }
    }

    /// Exchanges red and green, so the colors are wrong without the profile.
    private static var swappedProfile: [UInt8] {
        let primaries = ICCWriter.standardPrimaries
        return ICCWriter.profile(primaries: [primaries[1], primaries[0], primaries[2]])
    }
}
