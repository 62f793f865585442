import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PlanarAVIFTests {
    @Test(arguments: [60, 95])
    func `the file declares its planes as full-range BT.601 of sRGB`(quality: Int) throws {
        let file = try avif(of: ImageFixture.photo(width: 203, height: 155), quality: quality)
        #expect(try ImageHeader.inspect(file).size == PixelSize(width: 101, height: 77))
        // The `colr` box: primaries 1, transfer 13, matrix 6, and the full-range bit.
        let meaning = Array("colrnclx".utf8) + [0, 1, 0, 13, 0, 6, 0x80]
        #expect(file.array.contains(meaning))
    }

    @Test func `planes and pixels make the same image`() throws {
        try ImageLibrary.start()
        for (width, height) in [(320, 240), (203, 155)] {
            for target in [40, 101, 150] {
                for quality in [60, 95] {
                    var options = RenderingOptions()
                    (options.width, options.quality) = (target, quality)
                    let comparison = try LaneComparison(
                        ImageFixture.photo(width: width, height: height), options, .avif)
                    let distance = comparison.noiseDistance
                    #expect(distance > (quality == 95 ? 38 : 30), "\(width) \(target) \(quality): \(distance)")
                }
            }
        }
        let gray = SharedBytes(ImageFixture.file(.grayRamp(PixelSize(width: 200, height: 100)), as: .jpeg))
        var options = RenderingOptions()
        options.width = 100
        #expect(try LaneComparison(gray, options, .avif).noiseDistance > 36)
    }

    @Test func `the same planes make the same file`() throws {
        let photo = ImageFixture.photo(width: 203, height: 155)
        #expect(try avif(of: photo, quality: 60).array == avif(of: photo, quality: 60).array)
    }

    @Test(arguments: [ImageFormat.jpeg, .webp], [ResamplingLight.gamma, .linear])
    func `the same image has the same encoded bytes, regardless of earlier images`(
        source: ImageFormat, light: ResamplingLight
    ) throws {
        try ImageLibrary.start()
        let watched = HandedPixels()
        func render(_ file: SharedBytes, _ size: PixelSize) throws {
            let image = try InProcessCodec().decode(
                file, header: .inspect(file), plan: DecodePlan(), limits: ImagingLimits(), token: WorkToken())
            let plan = RenderPlan(
                decode: DecodePlan(), resizedSize: size, light: light, format: .avif, quality: 60)
            _ = try ImageRenderer.render(image, plan: plan, token: WorkToken(), codec: watched)
        }
        let photo = ImageFixture.photo(width: 203, height: 155, format: source)
        let white = SharedBytes(
            ImageFixture.file(
                SampleImage(PixelSize(width: 211, height: 160), bands: 3) { _, _ in [255, 255, 255] }, as: source))
        // Rows of one image end in the middle of rows of the other.
        let size = PixelSize(width: 101, height: 77)
        try render(photo, size)
        try render(white, PixelSize(width: 192, height: 77))
        try render(photo, size)
        let pixels = watched.pixels.withLock { $0 }
        #expect(pixels.count == 3 && pixels[0] == pixels[2] && pixels[0] != pixels[1])
    }

    private func avif(of file: SharedBytes, quality: Int) throws -> SharedBytes {
        var options = RenderingOptions()
        (options.width, options.quality) = (101, quality)
        return try thumbnail(file, options, .avif).bytes
    }
}

/// A codec that keeps the pixels to encode.
private final class HandedPixels: ImageCodec {
    let pixels = Locked<[[UInt8]]>([])

    func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        preconditionFailure("nothing is decoded here")
    }

    func encode(
        _ image: DecodedImage, as format: ImageFormat, settings: EncoderSettings, token: WorkToken
    ) throws -> SharedBytes {
        pixels.withLock { $0.append(image.pixels.array) }
        return SharedBytes([])
    }
}

extension [UInt8] {
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: part) }
    }
}
