import TestSupport
import Testing

@testable import Recipes

struct QualityCurveTests {
    /// Numbers of pixels from the minimum to more than any column of the curves.
    private static let sizes = [1, 7_569, 30_000, 67_600, 90_000, 187_489, 500_000, 749_956, 25_000_000]

    @Test(arguments: ImageFormat.written.filter(\.hasQuality), sizes)
    func `the encoder's quality rises with the quality, and both end at 1 and 100`(format: ImageFormat, pixels: Int) {
        let qualities = (1...100).map { format.encoderQuality(for: $0, pixels: pixels) }
        #expect(qualities == qualities.sorted() && qualities.first == 1 && qualities.last == 100)
    }

    @Test(arguments: sizes)
    func `the quality of JPEG is the scale`(pixels: Int) {
        #expect((1...100).allSatisfy { ImageFormat.jpeg.encoderQuality(for: $0, pixels: pixels) == $0 })
    }

    @Test(arguments: ImageFormat.written.filter(\.hasQuality), sizes)
    func `an encoder's quality maps back to the lowest visual quality that gives it, or beyond`(
        format: ImageFormat, pixels: Int
    ) {
        for quality in 2...100 {
            let visual = format.visualQuality(of: quality, pixels: pixels)
            #expect(format.encoderQuality(for: visual, pixels: pixels) >= quality)
            #expect(format.encoderQuality(for: visual - 1, pixels: pixels) < quality)
        }
    }

    @Test(arguments: [ImageFormat.webp, .avif, .jxl])
    func `the encoder's quality changes with the size in small steps, and not beyond the measured sizes`(
        format: ImageFormat
    ) {
        for visual in [10, 45, 80, 89] {
            let qualities = (1...1_200).map { format.encoderQuality(for: visual, pixels: $0 * $0) }
            #expect(zip(qualities, qualities.dropFirst()).allSatisfy { abs($0 - $1) <= 1 })
            #expect(Set(qualities[..<87]).count == 1 && Set(qualities[865...]).count == 1)
        }
        #expect(ImageFormat.avif.encoderQuality(pixels: 60_000) < ImageFormat.avif.encoderQuality(pixels: 600_000))
    }

    @Test func `a plan has the encoder's quality for the size, and a search keeps its scale`() throws {
        let source = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 600, height: 400))
        func plan(_ change: (inout RenderingOptions) -> Void) throws -> RenderPlan {
            var options = RenderingOptions()
            (options.width, options.format, options.quality) = (300, .fixed(.avif), 80)
            change(&options)
            return try RenderPlan(options, source: source)
        }
        let own = ImageFormat.avif.encoderQuality(pixels: 60_000)
        #expect(try plan { _ in }.quality == .fixed(own))
        #expect(try plan { $0.width = 600 }.quality == .fixed(ImageFormat.avif.encoderQuality(pixels: 240_000)))
        #expect(try plan { $0.quality = nil } == plan { _ in })
        #expect(try plan { ($0.qualityScale, $0.quality) = (.encoder, nil) } == plan { _ in })
        #expect(try plan { $0.qualityScale = .encoder }.quality == .fixed(80))
        #expect(try plan { ($0.qualityScale, $0.quality) = (.encoder, own) } == plan { _ in })
        let searched = try plan { $0.maximumBytes = 9_000 }
        #expect(searched.quality == .fitting(bytes: 9_000, highest: 80))
        #expect(searched.settings(quality: 80).quality == own && searched.visualQuality(of: 80) == 80)
        #expect((1...100).allSatisfy { searched.settings(quality: $0).visualQuality == $0 })
        let encoders = try plan { ($0.qualityScale, $0.maximumBytes) = (.encoder, 9_000) }
        #expect(encoders.settings(quality: 80).quality == 80 && encoders.keyTexts != searched.keyTexts)
        #expect(encoders.visualQuality(of: own) == 80)
    }

    @Test func `a trim uses the quality of the untrimmed size`() throws {
        let source = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 1_000, height: 800))
        var options = RenderingOptions()
        (options.format, options.maximumBytes, options.operations.trim) = (.fixed(.avif), 9_000, .init(tolerance: 10))
        let plan = try RenderPlan(options, source: source)
        let rest = plan.trimmed(to: [ResampleStep(to: PixelSize(width: 90, height: 80), in: .gamma)], drawn: nil)
        #expect(rest.outputSize.area == 7_200 && rest.settings(quality: 80) == plan.settings(quality: 80))
        (options.format, options.maximumBytes) = (.fixed(.jxl), nil)
        let fixed = try RenderPlan(options, source: source)
        let small = fixed.trimmed(to: [ResampleStep(to: PixelSize(width: 90, height: 80), in: .gamma)], drawn: nil)
        #expect(small.settings(quality: fixed.quality.highest).visualQuality == 80)
    }
}
