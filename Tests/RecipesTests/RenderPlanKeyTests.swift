import Recipes
import TestSupport
import Testing

/// Texts of the keys of cached results.
///
/// Changing a text changes the key and invalidates all results on disk.
struct RenderPlanKeyTests {
    private static let transparent = ImageHeader(
        format: .gif, storedSize: PixelSize(width: 400, height: 300), bands: 4, frames: 9, hasAlpha: true)

    private func keyTexts(
        _ options: RenderingOptions, _ format: ImageFormat, light: ResamplingLight = .gamma,
        limits: ImagingLimits = ImagingLimits()
    ) throws -> [String] {
        try RenderPlan(
            options: options, format: format, source: Self.transparent, limits: limits, light: light
        ).keyTexts
    }

    @Test func `a plan's key is written out`() throws {
        #expect(
            try plan(1_600, 1_200, options(200, 150)).keyTexts == [
                "page 0 level 4 refuse", "resample 200x150 gamma.2", "jpeg.4 80",
            ])
        #expect(
            try plan(400, 300, options(100, 100, .cover), format: .webp).keyTexts == [
                "page 0 level 1 refuse", "resample 133x100 gamma.2", "crop 16,0 100x100", "webp.6 77",
            ])
        #expect(
            try plan(400, 300, options(100, 100, .cover) { $0.gravity = .attention }).keyTexts[2]
                == "attention 100x100")
        #expect(
            try plan(400, 300, options(100, 100, .cover) { $0.gravity = .entropy }).keyTexts[2] == "entropy 100x100")
        #expect(
            try plan(400, 300, options(300, 300, .contain) { $0.quality = 90 }).keyTexts == [
                "page 0 level 1 refuse", "resample 300x225 gamma.2", "background 255,255,255,255",
                "canvas 300x300 0,37 255,255,255,255", "jpeg.4 90",
            ])
        let glass = options(300, 300, .contain) { $0.background = Color(red: 1, green: 2, blue: 3, alpha: 4) }
        #expect(
            try keyTexts(glass, .png, light: .linear) == [
                "page 0 level 1 refuse", "resample 300x225 linear.3", "background 1,2,3,4",
                "canvas 300x300 0,37 1,2,3,4", "png.4 100",
            ])
    }

    @Test func `a lossless result has its own key, unless the format never loses anything`() throws {
        func texts(_ format: FormatChoice) throws -> [String] {
            var options = options(200, 150)
            (options.isLossless, options.format) = (true, format)
            let source = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 1_600, height: 1_200))
            return try RenderPlan(AnyRenderRecipe(options), of: RecipeSource(header: source)).keyTexts
        }
        #expect(try texts(.fixed(.webp)).last == "webp.6 100 lossless")
        #expect(try texts(.fixed(.jxl)).last == "jxl.5 100 lossless")
        #expect(try texts(.fixed(.png)).last == "png.4 100")
        #expect(try texts(.negotiated([.avif: 1_000, .jpeg: 1_000])).last == "png.4 100")
        #expect(try texts(.negotiated([.avif: 1_000, .webp: 1_000])).last == "webp.6 100 lossless")
    }

    @Test func `a lossless result costs more time and memory, and large ones become PNG`() throws {
        func plan(_ format: FormatChoice, _ side: Int, isLossless: Bool = true) throws -> RenderPlan {
            var options = options(side, side)
            (options.isLossless, options.format) = (isLossless, format)
            let source = ImageHeader(format: .png, storedSize: PixelSize(width: 4_000, height: 4_000))
            return try RenderPlan(AnyRenderRecipe(options), of: RecipeSource(header: source))
        }
        let (small, lossy) = (try plan(.fixed(.webp), 1_000), try plan(.fixed(.webp), 1_000, isLossless: false))
        let header = ImageHeader(format: .png, storedSize: PixelSize(width: 4_000, height: 4_000))
        #expect(small.timeCost(of: header) > lossy.timeCost(of: header) + .milliseconds(500))
        #expect(small.cost > lossy.cost + 60_000_000)
        #expect(throws: ImagingError.self) { try plan(.fixed(.webp), 3_000) }
        #expect(try plan(.fixed(.webp), 3_000, isLossless: false).format == .webp)
        #expect(try plan(.negotiated([.webp: 1_000]), 3_000).format == .png)
        #expect(try plan(.negotiated([.webp: 1_000]), 2_000).format == .webp)
    }

    @Test func `the key names pages, frames and the policy on incomplete images`() throws {
        #expect(try keyTexts(options(400, 300) { $0.page = 3 }, .gif)[0] == "page 3 level 1 refuse")
        var limits = ImagingLimits()
        limits.incompleteImages = .serve
        limits.maximumFrames = 7
        let moving = options(400, 300) { $0.isAnimated = true }
        #expect(
            try keyTexts(moving, .gif, limits: limits) == [
                "frames 7 level 1 serve", "resample 400x300 gamma.2", "gif 100",
            ])
    }

    @Test func `a searched quality is part of the key`() throws {
        func text(_ format: ImageFormat, _ change: (inout RenderingOptions) -> Void) throws -> String? {
            try keyTexts(options(20, 15, change: change), format).last
        }
        #expect(try text(.jpeg) { $0.maximumBytes = 5_000 } == "jpeg.4 80 most 5000")
        #expect(try text(.webp) { ($0.maximumBytes, $0.quality) = (256, 30) } == "webp.6 30 most 256 look.2")
        #expect(try text(.avif) { $0.isQualityAutomatic = true } == "avif.3 similar.2 9800 40 90 look.2")
        #expect(try text(.png) { $0.isQualityAutomatic = true } == "png.4 100")
        #expect(try text(.gif) { $0.maximumBytes = 5_000 } == "gif 100")
    }

    @Test func `formats are in the key by name`() throws {
        let texts = try ImageFormat.allCases.map { try keyTexts(options(20, 15), $0).last }
        #expect(Set(texts.compactMap { $0?.split(separator: " ").first }).count == ImageFormat.allCases.count)
        #expect(try keyTexts(options(20, 15), .avif).last == "avif.3 64")
        #expect(try keyTexts(options(20, 15), .webp).last == "webp.6 77")
    }
}
