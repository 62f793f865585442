import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging

/// What is decoded and kept of watermarks, and what that costs.
@Suite(.timeLimit(.minutes(1)))
struct OverlayPlanTests {
    @Test func `the scaled form is made once and kept`() throws {
        let kept = KeptForms()
        let (image, mark) = (ImageFixture.jpeg.bytes, ImageFixture.pngHalfTransparent.bytes)
        func file(opacity: Int, _ forms: KeptForms? = nil) throws -> [UInt8] {
            try WatermarkFixture.file(image, mark: mark, keeping: forms) { ($1.scale, $1.opacity) = (5_000, opacity) }
                .array
        }
        let first = try file(opacity: 100, kept)
        #expect(try file(opacity: 100, kept) == first)
        #expect(try file(opacity: 100) == first)
        // The form is the same at another opacity.
        #expect(try file(opacity: 40, kept) == file(opacity: 40))
        #expect(kept.sizes == [PixelSize(width: 32, height: 24)])
    }

    @Test func `the level of its decode follows from sizes, and it is decoded no larger than needed`() throws {
        let header = try ImageHeader.inspect(ImageFixture.photo(width: 400, height: 300))
        func plan(_ width: Int, scale: Int?) throws -> RenderPlan {
            var options = RenderingOptions()
            options.width = width
            var plan = try RenderPlan(
                options: options, format: .png,
                source: ImageHeader.inspect(ImageFixture.photo(width: 400, height: 400)), limits: ImagingLimits())
            var watermark = WatermarkOptions()
            watermark.scale = scale
            try plan.append(
                watermark: watermark, ratio: 1_000, header: header, limits: ImagingLimits(), light: .gamma)
            return plan
        }
        for (scale, level) in [
            (nil, 1), (10_000, 1), (5_100, 1), (5_000, 2), (2_500, 2), (2_400, 4), (1_250, 4), (1_200, 8),
        ] {
            #expect(try plan(200, scale: scale).additions == [DecodePlan(level: level)], "\(scale ?? 0)")
        }
        let key = try plan(200, scale: 1_200).keyTexts
        #expect(key.contains("overlay 0 24x18 0,0 24x18 gamma at 176,182 24x18 100"))
        #expect(key.last == "addition page 0 level 8 refuse")
    }

    @Test func `a huge watermark costs no more memory than the result`() throws {
        // At eight times its size it would have 64 million pixels.
        let mark = WatermarkFixture.png(PixelSize(width: 1_000, height: 1_000), [0, 0, 255])
        var plan = try RenderPlan(
            options: RenderingOptions(), format: .png, source: ImageHeader.inspect(ImageFixture.png.bytes),
            limits: ImagingLimits())
        let price = plan.price
        try plan.append(
            watermark: WatermarkOptions(), ratio: 8_000, header: ImageHeader.inspect(mark), limits: ImagingLimits(),
            light: .gamma)
        #expect(plan.price < price + 4 * (ImageFixture.size.area + 1_000_000) + 1)
        let result = try ImageReading.decode(WatermarkFixture.file(ImageFixture.png.bytes, mark: mark, ratio: 8_000))
        #expect(result.pixels.array == Array(repeating: [0, 0, 255], count: ImageFixture.size.area).flatMap { $0 })
    }
}
