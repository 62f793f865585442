import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct LosslessTests {
    private static let sources = [
        ImageFixture.photo(width: 401, height: 303), ImageFixture.photo(width: 320, height: 240, format: .png),
        ImageFixture.pngHalfTransparent.bytes, ImageFixture.jpegGrayRamp.bytes,
    ]

    /// RGBA of each pixel; transparent ones have no color.
    private func pixels(_ file: SharedBytes) throws -> [[UInt8]] {
        let image = try InProcessCodec().decode(
            file, header: .inspect(file), plan: DecodePlan(), limits: .none, token: WorkToken()
        ).interleavedInSRGB(token: WorkToken())
        let bytes = image.pixels.array
        return stride(from: 0, to: bytes.count, by: image.bands).map { start in
            let pixel = Array(bytes[start..<start + image.bands])
            let alpha = image.bands % 2 == 0 ? pixel[image.bands - 1] : 255
            let color = image.bands < 3 ? [pixel[0], pixel[0], pixel[0]] : Array(pixel[..<3])
            return (alpha == 0 ? [0, 0, 0] : color) + [alpha]
        }
    }

    @Test(arguments: [ImageFormat.webp, .jxl], sources.indices)
    func `a lossless file has the pixels of the PNG`(format: ImageFormat, source: Int) throws {
        var options = options(nil, nil)
        options.operations.pad = ImageOperations.Margins(top: 1, right: 2, bottom: 3, left: 4)
        for width in [nil, 150, 40] {
            options.width = width
            options.isLossless = true
            let file = try thumbnail(Self.sources[source], options, format)
            let png = try thumbnail(Self.sources[source], options, .png)
            #expect(file.size == png.size)
            let (ours, theirs) = (try pixels(file.bytes), try pixels(png.bytes))
            #expect(ours == theirs, "\(zip(ours, theirs).count { $0 != $1 }) of \(theirs.count) pixels differ")
        }
    }

    @Test func `without it, such files lose some`() throws {
        let source = ImageFixture.photo(width: 401, height: 303)
        for format in [ImageFormat.webp, .jxl] {
            var options = options(150, nil)
            options.quality = 100
            let file = try thumbnail(source, options, format)
            #expect(try pixels(file.bytes) != pixels(thumbnail(source, options, .png).bytes))
        }
    }

    @Test func `the frames of a lossless animation are exact`() throws {
        var options = options(nil, nil)
        (options.isAnimated, options.isLossless) = (true, true)
        let source = ImageFixture.gifAnimated.bytes
        let (webp, png) = (try thumbnail(source, options, .webp), try thumbnail(source, options, .png))
        for page in 0..<(try ImageHeader.inspect(webp.bytes).frames) {
            var still = TestSupport.options(nil, nil)
            still.page = page
            #expect(
                try pixels(thumbnail(webp.bytes, still, .png).bytes) == pixels(thumbnail(png.bytes, still, .png).bytes))
        }
    }
}
