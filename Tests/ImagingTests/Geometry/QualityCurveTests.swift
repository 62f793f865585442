import TestSupport
import Testing

@testable import Imaging

struct QualityCurveTests {
    @Test(arguments: ImageFormat.written.filter(\.hasQuality))
    func `a higher quality never has a lower one of the encoder, and both end at 1 and 100`(format: ImageFormat) {
        let qualities = (1...100).map(format.encoderQuality(for:))
        #expect(qualities == qualities.sorted() && qualities.first == 1 && qualities.last == 100)
    }

    @Test func `the quality of JPEG is the scale`() {
        #expect((1...100).allSatisfy { ImageFormat.jpeg.encoderQuality(for: $0) == $0 })
    }

    @Test(arguments: ImageFormat.written.filter(\.hasQuality))
    func `the look of an encoder's quality is the lowest that leads to it, or beyond`(format: ImageFormat) {
        for quality in 2...100 {
            let look = format.look(of: quality)
            #expect(format.encoderQuality(for: look) >= quality && format.encoderQuality(for: look - 1) < quality)
        }
    }

    @Test func `a plan has the encoder's quality, and a search keeps its scale`() throws {
        let source = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 600, height: 400))
        func plan(_ change: (inout RenderingOptions) -> Void) throws -> RenderPlan {
            var options = RenderingOptions()
            (options.width, options.format, options.quality) = (300, .fixed(.avif), 80)
            change(&options)
            return try RenderPlan(options, source: source)
        }
        #expect(try plan { _ in }.quality == .fixed(67))
        #expect(try plan { $0.quality = nil } == plan { _ in })
        #expect(try plan { $0.qualityScale = .encoder }.quality == .fixed(80))
        #expect(try plan { ($0.qualityScale, $0.quality) = (.encoder, 67) } == plan { _ in })
        let searched = try plan { $0.maximumBytes = 9_000 }
        #expect(searched.quality == .fitting(bytes: 9_000, highest: 80))
        #expect(searched.settings(quality: 80).quality == 67)
        let encoders = try plan { ($0.qualityScale, $0.maximumBytes) = (.encoder, 9_000) }
        #expect(encoders.settings(quality: 80).quality == 80 && encoders.keyTexts != searched.keyTexts)
    }
}
