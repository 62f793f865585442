import Coordination
import Imaging
import Memory
import TestSupport
import Testing

@testable import Recipes

/// Decodes of watermarks, their cached forms, and their costs.
@Suite(.timeLimit(.minutes(1)))
struct OverlayPlanTests {
    @Test func `the scaled form is made once and cached`() throws {
        let kept = KeptForms()
        let (image, mark) = (ImageFixture.jpeg.bytes, ImageFixture.pngHalfTransparent.bytes)
        func file(opacity: Int, _ forms: KeptForms? = nil) throws -> [UInt8] {
            try WatermarkFixture.file(image, mark: mark, keeping: forms) { ($1.scale, $1.opacity) = (5_000, opacity) }
                .array
        }
        let first = try file(opacity: 100, kept)
        #expect(try file(opacity: 100, kept) == first)
        #expect(try file(opacity: 100) == first)
        // The form does not depend on the opacity.
        #expect(try file(opacity: 40, kept) == file(opacity: 40))
        #expect(kept.sizes == [PixelSize(width: 32, height: 24)])
    }

    @Test func `the level of its decode follows from sizes, and it is decoded no larger than needed`() throws {
        let header = try ImageHeader.inspect(ImageFixture.photo(width: 400, height: 300))
        func plan(_ width: Int, scale: Int?) throws -> RenderPlan {
            var options = RenderingOptions()
            options.width = width
            options.watermark = WatermarkOptions()
            options.watermark?.scale = scale
            return try RenderPlan(
                options: options, format: .png,
                source: ImageHeader.inspect(ImageFixture.photo(width: 400, height: 400)), limits: ImagingLimits(),
                additions: [header])
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

    /// The plan for an image of 640×480 with a watermark drawn from SVG.
    private func plan(
        _ mark: [UInt8], ratio: Int = 1_000, trim: ImageOperations.Trim? = nil, _ watermark: WatermarkOptions
    ) throws -> RenderPlan {
        var (options, limits) = (RenderingOptions(), ImagingLimits())
        limits.sourceFormats.insert(.svg)
        options.operations.trim = trim
        (options.watermark, options.devicePixelRatio) = (watermark, ratio)
        return try RenderPlan(
            options: options, format: .png,
            source: .inspect(WatermarkFixture.png(PixelSize(width: 640, height: 480), [0, 0, 0])), limits: limits,
            additions: [.inspect(SharedBytes(mark))])
    }

    @Test func `a vector watermark is drawn at its size in the result`() throws {
        let mark = UnwrittenImages.svg("width='64' height='48'")
        var watermark = WatermarkOptions()
        #expect(try plan(mark, watermark).additions == [DecodePlan(drawnSize: PixelSize(width: 64, height: 48))])
        let doubled = try plan(mark, ratio: 2_000, watermark)
        #expect(doubled.additions == [DecodePlan(drawnSize: PixelSize(width: 128, height: 96))])
        watermark.scale = 5_000
        let half = try plan(mark, watermark)
        #expect(half.additions == [DecodePlan(drawnSize: PixelSize(width: 320, height: 240))])
        #expect(half.keyTexts.last == "addition page 0 level 1 refuse drawn 320x240")
        let trimmed = try plan(mark, trim: .init(tolerance: 10), watermark)
        #expect(trimmed.additions == half.additions)
        // Proportions are computed with fractions of a pixel.
        watermark.scale = 10_000
        let fine = try plan(UnwrittenImages.svg("viewBox='0 0 1.6 1'"), watermark)
        #expect(fine.additions == [DecodePlan(drawnSize: PixelSize(width: 640, height: 400))])
    }

    @Test(arguments: [1_000, 3_000])
    func `the edges of a vector watermark are sharp`(ratio: Int) throws {
        let image = WatermarkFixture.png(PixelSize(width: 640, height: 480), [0, 0, 0])
        let mark = SharedBytes(UnwrittenImages.svg("width='64' height='48'"))
        for scale in [nil, 5_000] {
            let result = try ImageReading.decode(
                WatermarkFixture.file(image, mark: mark, ratio: ratio) { ($1.position, $1.scale) = (.topLeft, scale) })
            let half = scale == nil ? 32 * ratio / 1_000 : 160
            for x in 0..<2 * half where x != half {
                #expect(result.pixel(x: x, y: 0) == (x < half ? [255, 0, 0] : [0, 255, 0]), "\(x)")
            }
            #expect(result.pixel(x: 2 * half + 1, y: 0) == [0, 0, 0])
        }
    }

    @Test func `of a huge vector watermark only the visible part is drawn`() throws {
        let file = UnwrittenImages.svg("width='100000' height='75000' viewBox='0 0 64 48'")
        var watermark = WatermarkOptions()
        (watermark.position, watermark.x, watermark.y) = (.center, 20, 40)
        let plan = try plan(file, watermark)
        let part = DrawnRegion(
            of: ImageRegion(allOf: PixelSize(width: 100_000, height: 75_000)),
            scaledTo: PixelSize(width: 100_000, height: 75_000), x: 49_660, y: 37_220)
        #expect(plan.additions == [DecodePlan(drawnSize: PixelSize(width: 640, height: 480), drawnRegion: part)])
        let result = try ImageReading.decode(
            WatermarkFixture.file(
                WatermarkFixture.png(PixelSize(width: 640, height: 480), [0, 0, 0]), mark: SharedBytes(file)
            ) { $1 = watermark })
        for (x, y, color) in [
            (0, 0, [255, 0, 0]), (339, 279, [255, 0, 0]), (340, 279, [0, 255, 0]), (339, 280, [0, 0, 255]),
            (639, 479, [255, 255, 255]),
        ] as [(Int, Int, [UInt8])] { #expect(result.pixel(x: x, y: y) == color, "\(x),\(y)") }
        // Tiles begin within the result, or the result has no final size.
        watermark.isTiled = true
        #expect(throws: ImagingError.self) { try self.plan(file, trim: .init(tolerance: 10), watermark) }
        (watermark.x, watermark.y) = (-99_990, 0)
        #expect(throws: ImagingError.ofAddition(0, .tooManyPixels(PixelSize(width: 100_000, height: 75_000)))) {
            try self.plan(file, watermark)
        }
    }

    @Test func `a huge watermark costs no more memory than the result`() throws {
        // At eight times its size, it would have 64 million pixels.
        let mark = WatermarkFixture.png(PixelSize(width: 1_000, height: 1_000), [0, 0, 255])
        var options = RenderingOptions()
        options.devicePixelRatio = 8_000
        let source = try ImageHeader.inspect(ImageFixture.png.bytes)
        let cost = try RenderPlan(options: options, format: .png, source: source, limits: ImagingLimits()).cost
        options.watermark = WatermarkOptions()
        let plan = try RenderPlan(
            options: options, format: .png, source: source, limits: ImagingLimits(),
            additions: [ImageHeader.inspect(mark)])
        #expect(plan.cost < cost + 4 * (2 * ImageFixture.size.area + 1_000_000) + 1)
        let result = try ImageReading.decode(WatermarkFixture.file(ImageFixture.png.bytes, mark: mark, ratio: 8_000))
        #expect(result.pixels.array == Array(repeating: [0, 0, 255], count: ImageFixture.size.area).flatMap { $0 })
    }
}
