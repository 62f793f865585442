import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Plans and pixels of recipes by rules other than Alula's.
struct RenderRecipeTests {
    /// The right half of the trimmed image, rotated clockwise, with a margin.
    private struct HalfRecipe: RenderRecipe {
        var width = 20
        var tolerance: Int?
        var page = 0
        var frames = 1
        var format = ImageFormat.png
        var keyText: String { "half \(width)" }

        func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
            let whole = source.whole(ofPage: page)
            let half = PixelSize(width: whole.size.width / 2, height: whole.size.height)
            var made = RenderDraft(
                size: PixelSize(width: width, height: width * half.width / half.height), format: format,
                quality: .fixed(80))
            made.region = ImageRegion(x: whole.x + half.width, y: whole.y, size: half, of: whole.whole)
            made.turn = 6
            made.trim = tolerance.map { ImageOperations.Trim(tolerance: $0) }
            (made.page, made.frames) = (page, frames)
            made.steps.append(MarginStep(.init(top: 1), color: .white))
            return made
        }
    }

    private static func plan(_ recipe: HalfRecipe, _ header: ImageHeader) throws(ImagingError) -> RenderPlan {
        try RenderPlan(recipe, source: header)
    }

    private static let header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 800, height: 200))

    @Test func `a recipe determines size, steps, level and format`() throws {
        let plan = try Self.plan(HalfRecipe(), Self.header)
        #expect(plan.outputSize == PixelSize(width: 20, height: 41))
        #expect(plan.format == .png && plan.decode.level == 4)
        #expect(
            plan.keyTexts == [
                "page 0 level 4 refuse", "resample 40x20 gamma.2 of 400,0 400x200", "turn 6",
                "pad 1,0,0,0 255,255,255,255",
                "png.4 100",
            ])
        #expect(plan == (try Self.plan(HalfRecipe(), Self.header)))
        #expect(plan != (try Self.plan(HalfRecipe(width: 21), Self.header)))
    }

    @Test func `the limits are those of all requests`() throws {
        var limits = ImagingLimits()
        limits.maximumOutputPixels = 800
        #expect(throws: ImagingError.self) {
            try RenderPlan(HalfRecipe(), source: Self.header, limits: limits)
        }
        limits = ImagingLimits()
        limits.maximumSourcePixels = 100_000
        #expect(throws: ImagingError.self) {
            try RenderPlan(HalfRecipe(), source: Self.header, limits: limits)
        }
        #expect(throws: ImagingError.noSuchPage(1, pages: 1)) { try Self.plan(HalfRecipe(page: 1), Self.header) }
    }

    @Test func `animations are preserved only if both formats support them`() throws {
        let header = ImageHeader(format: .gif, storedSize: PixelSize(width: 80, height: 40), frames: 3)
        #expect(try Self.plan(HalfRecipe(frames: 9, format: .webp), header).isAnimated)
        #expect(try !Self.plan(HalfRecipe(frames: 9, format: .jpeg), header).isAnimated)
        #expect(try !Self.plan(HalfRecipe(frames: 1, format: .webp), header).isAnimated)
        #expect(try Self.plan(HalfRecipe(page: 2), header).decode.page == 2)
    }

    @Test func `the part is rotated, and after a trim it is relative to the box`() throws {
        let image = SampleImage(PixelSize(width: 140, height: 120), bands: 3) { x, y in
            guard 10..<110 ~= x, 20..<70 ~= y else { return [255, 255, 255] }
            return x < 60 ? [200, 40, 20] : [10, 60, 220]
        }
        let file = SharedBytes(ImageFixture.file(image, as: .png, quality: 95))
        func pixels(_ recipe: HalfRecipe) throws -> DecodedImage {
            try ImageReading.decode(thumbnail(file, recipe).bytes)
        }
        let trimmed = try pixels(HalfRecipe(tolerance: 10))
        #expect(trimmed.size == PixelSize(width: 20, height: 21))
        #expect(Array(trimmed.values(10, 0).prefix(3)) == [255, 255, 255])
        #expect(Array(trimmed.values(10, 10).prefix(3)) == [10, 60, 220])
        // The right half, rotated clockwise: its left edge is at the top.
        let whole = try pixels(HalfRecipe())
        #expect(whole.isClose(x: 10, y: 2, to: [10, 60, 220], tolerance: 8))
        #expect(whole.isClose(x: 10, y: 11, to: [255, 255, 255], tolerance: 8))
    }

    @Test func `two trims with different recipes are different plans`() throws {
        let one = try Self.plan(HalfRecipe(tolerance: 10), Self.header)
        #expect(one == (try Self.plan(HalfRecipe(tolerance: 10), Self.header)))
        #expect(one != (try Self.plan(HalfRecipe(tolerance: 11), Self.header)))
        #expect(one.keyTexts.contains("trim 10 corner half 20"))
    }

    /// Many steps on the whole image.
    private struct ChainRecipe: RenderRecipe {
        let step: GaussianStep
        let count: Int
        var keyText: String { "chain \(count)" }

        func draft(of source: RecipeSource) -> RenderDraft {
            let whole = source.whole()
            var made = RenderDraft(size: whole.size, format: .jpeg, quality: .fixed(80))
            made.steps = RenderSteps([any RenderStep](repeating: step, count: count))
            return made
        }
    }

    @Test func `a chain of steps is rejected by its cost before the decode`() throws {
        func plan(_ count: Int, _ side: Int, _ limits: ImagingLimits = ImagingLimits()) throws -> RenderPlan {
            let header = ImageHeader(format: .png, storedSize: PixelSize(width: side, height: side))
            let recipe = ChainRecipe(step: GaussianStep(.sharpen, sigma: 500_000), count: count)
            return try RenderPlan(recipe, source: header, limits: limits)
        }
        let large = PixelSize(width: 3_000, height: 3_000)
        #expect(throws: ImagingError.tooMuchWork(large)) { try plan(64, 3_000) }
        #expect(try plan(1, 3_000).steps.count == 2)
        #expect(try plan(64, 300).steps.count == 65)
        var patient = ImagingLimits()
        patient.longestSteps = .seconds(60)
        #expect(try plan(64, 3_000, patient).steps.count == 65)
        // Small work is never rejected.
        patient.longestSteps = .nanoseconds(1)
        #expect(try plan(1, 300, patient).steps.count == 2)
    }
}
