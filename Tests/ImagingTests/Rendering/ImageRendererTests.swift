import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ImageRendererTests {
    @Test(arguments: [ImageFormat.jpeg, .png, .webp, .gif, .avif], ImageFixture.readable)
    func `every kind of source becomes every format`(format: ImageFormat, fixture: ImageFixture) throws {
        var options = RenderingOptions()
        options.width = 20
        let result = try thumbnail(fixture.bytes, options, format)
        #expect(result.size == PixelSize(width: 20, height: 15))
        let header = try ImageHeader.inspect(result.bytes)
        #expect(header.format == format)
        #expect(header.size == result.size)
        #expect(header.orientation == 1)
        #expect(header.profileByteCount == 0)
        #expect(header.frames == 1)
    }

    @Test(arguments: [Fit.inside, .outside, .cover, .contain, .fill])
    func `sizes are exact to the pixel`(fit: Fit) throws {
        let bytes = ImageFixture.photo(width: 203, height: 151)
        for width in [1, 2, 7, 33, 50, 51, 101, 102, 202, 203, 204, 407] {
            for height in [nil, 1, 37, 75, 150, 151, 152, 303] as [Int?] {
                for enlarge in [false, true] {
                    var options = RenderingOptions()
                    (options.width, options.height, options.fit, options.enlarge) = (width, height, fit, enlarge)
                    let result = try thumbnail(bytes, options, .jpeg)
                    #expect(try ImageHeader.inspect(result.bytes).size == result.size)
                }
            }
        }
    }

    @Test func `a resized image keeps its quarters`() throws {
        for (fit, size) in [(Fit.fill, PixelSize(width: 30, height: 30)), (.outside, PixelSize(width: 200, height: 9))]
        {
            var options = RenderingOptions()
            (options.width, options.height, options.fit, options.enlarge) = (size.width, size.height, fit, true)
            let image = try ImageReading.decode(thumbnail(ImageFixture.png.bytes, options, .png).bytes)
            let (right, bottom) = (image.size.width * 3 / 4, image.size.height * 3 / 4)
            #expect(image.isClose(x: image.size.width / 4, y: image.size.height / 4, to: [255, 0, 0]))
            #expect(image.isClose(x: right, y: image.size.height / 4, to: [0, 255, 0]))
            #expect(image.isClose(x: image.size.width / 4, y: bottom, to: [0, 0, 255]))
            #expect(image.isClose(x: right, y: bottom, to: [255, 255, 255]))
        }
    }

    @Test(arguments: [(0, 0, [255, 0, 0]), (44, 0, [0, 255, 0]), (0, 28, [0, 0, 255]), (44, 28, [255, 255, 255])])
    func `a crop begins where the plan places it`(x: Int, y: Int, color: [Int]) throws {
        let size = PixelSize(width: 20, height: 20)
        let plan = RenderPlan(
            source: FrameShape(size: ImageFixture.size, hasAlpha: false), steps: [CropStep(x: x, y: y, size: size)],
            format: .png, quality: 100)
        let image = try render(ImageFixture.png.bytes, plan)
        #expect(image.size == size)
        #expect(image.meanColor.map { Int($0) } == color)
    }

    @Test func `attention finds the colored spot, entropy the busy corner`() throws {
        let size = PixelSize(width: 200, height: 80)
        func plan(_ measure: InterestMeasure) -> RenderPlan {
            RenderPlan(
                source: FrameShape(size: size, hasAlpha: false),
                steps: [InterestStep(measure, size: PixelSize(width: 80, height: 80))], format: .png, quality: 100)
        }
        let spot = SampleImage(size, bands: 3) { x, y in
            150..<180 ~= x && 20..<60 ~= y ? [230, 120, 90] : [128, 128, 128]
        }
        let attention = try render(
            SharedBytes(ImageFixture.file(spot, as: .png)),
            plan(.attention))
        #expect(attention.meanColor[0] > 146)
        let lively = SampleImage(size, bands: 3) { x, y in
            x >= 120 ? [UInt8((x * 37 + y * 91) % 256), 0, 200] : [128, 128, 128]
        }
        let entropy = try render(
            SharedBytes(ImageFixture.file(lively, as: .png)),
            plan(.entropy))
        #expect(entropy.meanColor[1] < 10)
    }

    @Test func `a canvas surrounds the image with the background`() throws {
        var options = RenderingOptions()
        (options.width, options.height, options.fit) = (48, 48, .contain)
        let white = try ImageReading.decode(thumbnail(ImageFixture.jpeg.bytes, options, .jpeg).bytes)
        #expect(white.isClose(x: 24, y: 1, to: [255, 255, 255]))
        #expect(white.isClose(x: 10, y: 14, to: [255, 0, 0]))
        let transparent = try ImageReading.decode(thumbnail(ImageFixture.jpeg.bytes, options, .png).bytes)
        #expect(transparent.pixel(x: 24, y: 1).last == 0)
        #expect(transparent.isClose(x: 10, y: 14, to: [255, 0, 0, 255]))
        options.background = Color(red: 1, green: 200, blue: 3)
        let green = try ImageReading.decode(thumbnail(ImageFixture.pngGrayRamp.bytes, options, .png).bytes)
        #expect(green.isClose(x: 24, y: 1, to: [1, 200, 3], tolerance: 1))
        options.background = Color(red: 255, green: 0, blue: 0, alpha: 128)
        let half = try ImageReading.decode(thumbnail(ImageFixture.jpeg.bytes, options, .png).bytes)
        #expect(half.isClose(x: 24, y: 1, to: [255, 0, 0, 128], tolerance: 1))
    }

    @Test func `transparent parts get the background if there is one`() throws {
        let bytes = ImageFixture.pngHalfTransparent.bytes
        var options = RenderingOptions()
        let white = try ImageReading.decode(thumbnail(bytes, options, .jpeg).bytes)
        #expect(white.isClose(x: 60, y: 20, to: [255, 255, 255]))
        let kept = try ImageReading.decode(thumbnail(bytes, options, .png).bytes)
        #expect(kept.pixel(x: 60, y: 20).last == 0)
        options.background = Color(red: 0, green: 0, blue: 200)
        let blue = try ImageReading.decode(thumbnail(bytes, options, .png).bytes)
        #expect(blue.pixel(x: 60, y: 20) == [0, 0, 200])
        options.background = Color(red: 0, green: 0, blue: 200, alpha: 100)
        let glass = try ImageReading.decode(thumbnail(bytes, options, .png).bytes)
        #expect(glass.isClose(x: 60, y: 20, to: [0, 0, 200, 100], tolerance: 1))
        #expect(glass.isClose(x: 4, y: 20, to: [0, 255, 0, 255], tolerance: 1))
        let gray = try ImageReading.decode(thumbnail(ImageFixture.pngGrayAlpha.bytes, options, .jpeg).bytes)
        #expect(gray.isClose(x: 60, y: 20, to: [155, 155, 234], tolerance: 16))
    }

    @Test func `hidden colors do not bleed out of transparent pixels`() throws {
        var options = RenderingOptions()
        options.width = 10
        let image = try ImageReading.decode(thumbnail(ImageFixture.pngHalfTransparent.bytes, options, .png).bytes)
        for x in 0..<10 where image.pixel(x: x, y: 3)[3] > 20 { #expect(image.pixel(x: x, y: 3)[0] < 8) }
    }

    private func render(_ bytes: SharedBytes, _ plan: RenderPlan) throws -> DecodedImage {
        let image = try ImageReading.decode(bytes)
        let result = try ImageRenderer.render(image, plan: plan, token: WorkToken())
        return try ImageReading.decode(result.bytes, bands: 3)
    }
}
