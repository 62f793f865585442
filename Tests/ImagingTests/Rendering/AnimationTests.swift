import Imaging
import Memory
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AnimationTests {
    @Test(
        arguments: [ImageFixture.gifAnimated, .webpAnimated], ImageFormat.written.filter(\.supportsAnimation))
    func `all frames are resized alone, with their delays`(fixture: ImageFixture, format: ImageFormat) throws {
        var options = RenderingOptions()
        (options.width, options.isAnimated) = (31, true)
        let image = try ImageReading.decode(thumbnail(fixture.bytes, options, format).bytes)
        #expect(image.size == PixelSize(width: 31, height: 23))
        #expect(image.frames == 3)
        #expect(image.delays == [100, 200, 300])
        #expect(image.loop == 5)
        let colors = [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
        for (frame, color) in colors.enumerated() {
            for y in [0, 22] {
                #expect(image.isClose(x: 15, y: y, frame: frame, to: color + (image.hasAlpha ? [255] : [])))
            }
        }
    }

    @Test(arguments: [Fit.contain, .cover])
    func `frames are cut and framed alone`(fit: Fit) throws {
        var options = RenderingOptions()
        (options.width, options.height, options.fit, options.isAnimated) = (20, 20, fit, true)
        options.gravity = .attention
        options.background = Color(red: 255, green: 255, blue: 0)
        let result = try thumbnail(ImageFixture.gifAnimated.bytes, options, .webp)
        let image = try ImageReading.decode(result.bytes)
        #expect(image.size == PixelSize(width: 20, height: 20))
        #expect(image.frames == 3)
        let top = fit == .contain ? [255, 255, 0] : [0, 255, 0]
        #expect(image.isClose(x: 10, y: 0, frame: 1, to: top + (image.hasAlpha ? [255] : []), tolerance: 30))
        #expect(image.isClose(x: 10, y: 10, frame: 2, to: [0, 0, 255] + (image.hasAlpha ? [255] : []), tolerance: 30))
    }

    @Test(arguments: ImageFormat.written.filter { !$0.supportsAnimation })
    func `a format of stills gets the first frame`(format: ImageFormat) throws {
        var options = RenderingOptions()
        options.isAnimated = true
        let result = try thumbnail(ImageFixture.gifAnimated.bytes, options, format)
        #expect(try ImageHeader.inspect(result.bytes).frames == 1)
        #expect(result.size == ImageFixture.size)
    }

    @Test func `without asking an animation becomes its first frame`() throws {
        let result = try thumbnail(ImageFixture.gifAnimated.bytes, RenderingOptions(), .gif)
        #expect(try ImageHeader.inspect(result.bytes).frames == 1)
    }
}
