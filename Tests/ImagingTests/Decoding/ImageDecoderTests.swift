import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ImageDecoderTests {
    /// The colors of the quarters in RGB.
    private static let lights = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]
    /// The colors of the quarters after conversion from libvips' built-in CMYK profile for coated paper.
    private static let cmyk = [[236, 33, 40], [0, 142, 65], [26, 39, 123], [255, 255, 255]]

    @Test(arguments: ImageFixture.quarters)
    func `red, green, blue and white are decoded upright and correct`(fixture: ImageFixture) throws {
        let image = try ImageReading.decode(fixture.bytes)
        #expect(image.size == ImageFixture.size)
        // The GIF encoder always reserves a transparent palette entry.
        let opaque = fixture == .gif ? [255] : []
        #expect(image.bands == 3 + opaque.count)
        // The built-in CMYK profile has the colors of paper, which are less saturated than a screen's.
        let colors = fixture == .jpegAdobeCMYK ? Self.cmyk : Self.lights
        for (place, color) in zip([(16, 12), (48, 12), (16, 36), (48, 36)], colors) {
            // Results differ between versions of Little CMS.
            let tolerance = fixture == .jpegAdobeCMYK ? 24 : 12
            #expect(
                image.isClose(x: place.0, y: place.1, to: color + opaque, tolerance: tolerance),
                "\(image.pixel(x: place.0, y: place.1))")
        }
    }

    @Test func `a profile other than sRGB is applied`() throws {
        let image = try ImageReading.decode(ImageFixture.jpegSwappedPrimaries.bytes)
        #expect(image.isClose(x: 16, y: 12, to: [0, 255, 0]))
        #expect(image.isClose(x: 48, y: 12, to: [255, 0, 0]))
        #expect(image.isClose(x: 16, y: 36, to: [0, 0, 255]))
    }

    @Test func `sRGB's own profile changes nothing`() throws {
        let plain = try ImageReading.decode(ImageFixture.jpeg.bytes)
        let profiled = try ImageReading.decode(ImageFixture.jpegStandardProfile.bytes)
        #expect(plain.pixels.array == profiled.pixels.array)
    }

    @Test(arguments: [ImageFixture.jpegGrayRamp, .pngGrayRamp, .pngSixteenBitGray])
    func `gray stays one component`(fixture: ImageFixture) throws {
        let image = try ImageReading.decode(fixture.bytes)
        #expect(image.bands == 1)
        #expect(image.isClose(x: 0, y: 20, to: [0]))
        #expect(image.isClose(x: 32, y: 20, to: [129]))
        #expect(image.isClose(x: 63, y: 20, to: [255]))
    }

    @Test func `one bit per pixel becomes black and white`() throws {
        let image = try ImageReading.decode(ImageFixture.pngOneBit.bytes)
        #expect(image.pixel(x: 3, y: 3) == [0])
        #expect(image.pixel(x: 60, y: 3) == [255])
    }

    @Test func `alpha is preserved`() throws {
        let colour = try ImageReading.decode(ImageFixture.pngHalfTransparent.bytes)
        #expect(colour.pixel(x: 3, y: 3) == [0, 255, 0, 255])
        #expect(colour.pixel(x: 60, y: 3).last == 0)
        let gray = try ImageReading.decode(ImageFixture.pngGrayAlpha.bytes)
        #expect(gray.pixel(x: 3, y: 3) == [200, 255])
        #expect(gray.pixel(x: 60, y: 3).last == 0)
        let palette = try ImageReading.decode(ImageFixture.pngPaletteTransparent.bytes)
        #expect(palette.pixel(x: 3, y: 3).last == 0)
        #expect(palette.pixel(x: 60, y: 3) == [0, 255, 0, 255])
    }

    @Test(arguments: [ImageFixture.webpAnimated, .gifAnimated])
    func `all frames are decoded with their delays`(fixture: ImageFixture) throws {
        let image = try ImageReading.decode(fixture.bytes)
        #expect(image.size == ImageFixture.size)
        #expect(image.frames == 3)
        #expect(image.delays == [100, 200, 300])
        #expect(image.loop == 5)
        #expect(image.isClose(x: 9, y: 47, frame: 0, to: [255, 0, 0] + (image.hasAlpha ? [255] : [])))
        #expect(image.isClose(x: 9, y: 0, frame: 1, to: [0, 255, 0] + (image.hasAlpha ? [255] : [])))
        #expect(image.isClose(x: 9, y: 47, frame: 2, to: [0, 0, 255] + (image.hasAlpha ? [255] : [])))
    }

    @Test(arguments: [ImageFixture.webpAnimated, .gifAnimated], [1, 2, 8])
    func `a page of an animation is that frame`(fixture: ImageFixture, level: Int) throws {
        let image = try decode(fixture.bytes, DecodePlan(page: 1, level: level))
        #expect(image.frames == 1)
        #expect(image.delays.isEmpty)
        #expect(image.size == PixelSize(width: 64 / level, height: 48 / level))
        #expect(image.isClose(x: 3, y: 3, to: [0, 255, 0] + (image.hasAlpha ? [255] : [])))
    }

    @Test func `frames do not mix if a level does not divide their height`() throws {
        let size = PixelSize(width: 30, height: 27)
        for format in ImageFormat.trusted where format.isWritten && format.supportsAnimation {
            let file = SharedBytes(ImageFixture.animation(frames: 3, as: format, size: size))
            let image = try decode(file, DecodePlan(level: 4, isAnimated: true))
            #expect(image.size == PixelSize(width: 8, height: 7))
            #expect(image.isClose(x: 4, y: 6, frame: 0, to: [255, 0, 0] + (image.hasAlpha ? [255] : [])))
            #expect(image.isClose(x: 4, y: 0, frame: 1, to: [0, 255, 0] + (image.hasAlpha ? [255] : [])))
        }
    }

    @Test(arguments: ImageFormat.trusted.filter(\.isWritten), [1, 2, 4, 8])
    func `a level divides the sides and preserves the mean color`(format: ImageFormat, level: Int) throws {
        let bytes = ImageFixture.photo(width: 203, height: 155, format: format)
        let whole = try decode(bytes, DecodePlan())
        let reduced = try decode(bytes, DecodePlan(level: level))
        #expect(abs(reduced.size.width * level - 203) < level)
        #expect(abs(reduced.size.height * level - 155) < level)
        #expect(reduced.pixels.count == reduced.size.area * reduced.bands)
        for (one, other) in zip(whole.meanColor, reduced.meanColor) { #expect(abs(one - other) < 4) }
    }

    @Test func `a side shorter than the level survives`() throws {
        for format in [ImageFormat.jpeg, .png, .webp] {
            let bytes = ImageFixture.photo(width: 400, height: 3, format: format)
            let image = try decode(bytes, DecodePlan(level: 8))
            #expect(image.size == PixelSize(width: 50, height: 1))
        }
    }

    @Test func `transparent neighbors do not bleed into the mean of a box`() throws {
        let picture = SampleImage(PixelSize(width: 32, height: 32), bands: 4) { x, _ in
            x.isMultiple(of: 2) ? [0, 200, 0, 255] : [255, 0, 255, 0]
        }
        let bytes = SharedBytes(ImageFixture.file(picture, as: .png))
        let image = try decode(bytes, DecodePlan(level: 4))
        #expect(image.isClose(x: 4, y: 4, to: [0, 200, 0, 128], tolerance: 1))
    }

    @Test func `pixels cost their memory`() throws {
        #expect(try ImageReading.decode(ImageFixture.pngGrayRamp.bytes).byteCount == 64 * 48)
        #expect(try ImageReading.decode(ImageFixture.jpeg.bytes).byteCount == 64 * 48 * 3)
        #expect(try ImageReading.decode(ImageFixture.pngHalfTransparent.bytes).byteCount == 64 * 48 * 4)
        let picture = SampleImage.plain(PixelSize(width: 510, height: 500), [1, 2, 3, 4])
        let file = SharedBytes(ImageFixture.file(picture, as: .png))
        #expect(try ImageReading.decode(file).byteCount == 1_020_000)
    }

    private func decode(_ bytes: SharedBytes, _ plan: DecodePlan) throws -> DecodedImage {
        try ImageLibrary.start()
        let header = try ImageHeader.inspect(bytes)
        let token = WorkToken()
        return try ImageDecoder.decode(bytes, header: header, plan: plan, limits: ImagingLimits(), token: token)
            .interleavedInSRGB(token: token)
    }
}
