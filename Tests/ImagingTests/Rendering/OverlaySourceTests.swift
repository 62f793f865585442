import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Watermarks from every kind of source, on every kind of result.
@Suite(.timeLimit(.minutes(1)))
struct OverlaySourceTests {
    @Test(arguments: [ImageFixture.jpeg, .png], ImageFormat.written)
    func `watermarks work on every format and from any source`(source: ImageFixture, format: ImageFormat) throws {
        let file = try WatermarkFixture.file(
            source.bytes, mark: WatermarkFixture.png(PixelSize(width: 16, height: 16), [0, 0, 0]), as: format)
        var limits = ImagingLimits()
        limits.sourceFormats.formUnion([.avif, .jxl])
        let image = try ImageDecoder.decode(
            file, header: ImageHeader.inspect(file), plan: DecodePlan(), limits: limits, token: WorkToken()
        ).interleavedInSRGB(token: WorkToken())
        #expect(image.isNear(x: 56, y: 40, [0, 0, 0]))
        #expect(image.isNear(x: 40, y: 40, [255, 255, 255]))
        #expect(image.isNear(x: 8, y: 8, [255, 0, 0]))
    }

    @Test(arguments: [ImageFixture.webpAnimated, .gifAnimated])
    func `every frame of an animation gets it`(source: ImageFixture) throws {
        let mark = WatermarkFixture.png(PixelSize(width: 16, height: 16), [255, 255, 255])
        let file = try WatermarkFixture.file(source.bytes, mark: mark, as: .webp) { options, _ in
            options.isAnimated = true
        }
        let image = try ImageReading.decode(file)
        #expect(image.frames == ImageFixture.frames)
        for frame in 0..<image.frames {
            #expect(image.isNear(x: 60, y: 44, frame: frame, [255, 255, 255]))
            #expect(image.isNear(x: 8, y: 8, frame: frame, [[255, 0, 0], [0, 255, 0], [0, 0, 255]][frame]))
        }
    }

    @Test(arguments: ImageFixture.quarters)
    func `a watermark may come from any source, upright and in sRGB`(mark: ImageFixture) throws {
        let image = WatermarkFixture.png(PixelSize(width: 128, height: 96), [0, 0, 0])
        let own = try ImageReading.decode(mark.bytes)
        let quarters = [(1, 1, [255, 0, 0]), (3, 1, [0, 255, 0]), (1, 3, [0, 0, 255])]
        for (scale, x, y) in [(5_000, 64, 48), (2_500, 96, 72)] {
            let result = try ImageReading.decode(WatermarkFixture.file(image, mark: mark.bytes) { $1.scale = scale })
            let (width, height) = (128 - x, 96 - y)
            #expect(result.isClose(x: x - 2, y: y - 2, to: [0, 0, 0], tolerance: 0))
            for (column, row, color) in quarters {
                // CMYK colors are less saturated than the others.
                let inks = own.pixel(x: column * 16, y: row * 12).map(Int.init)
                let place = (x: x + width * column / 4, y: y + height * row / 4)
                #expect(
                    result.isNear(x: place.x, y: place.y, mark == .jpegAdobeCMYK ? inks : color, tolerance: 16))
            }
            #expect(result.isNear(x: 126, y: 94, [255, 255, 255]))
        }
    }

    @Test(arguments: [ImageFixture.jpegGrayRamp, .pngGrayRamp, .pngSixteenBitGray, .pngOneBit])
    func `a gray watermark is gray on a color image`(mark: ImageFixture) throws {
        let file = try WatermarkFixture.file(ImageFixture.png.bytes, mark: mark.bytes)
        let result = try ImageReading.decode(file, bands: 3)
        for x in [8, 24, 40, 56] {
            let pixel = result.pixel(x: x, y: 24).map(Int.init)
            #expect(abs(pixel[0] - pixel[1]) <= 2 && abs(pixel[1] - pixel[2]) <= 2, "\(pixel)")
        }
    }
}
