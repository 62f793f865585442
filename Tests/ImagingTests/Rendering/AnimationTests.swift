import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AnimationTests {
    @Test(
        arguments: [ImageFixture.gifAnimated, .webpAnimated], ImageFormat.written.filter(\.supportsAnimation))
    func `all frames are resized separately, with their delays`(fixture: ImageFixture, format: ImageFormat) throws {
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
                // AVIF codes the changes between frames and is least exact where saturated colors change.
                let tolerance = format == .avif ? 24 : 12
                let expected = color + (image.hasAlpha ? [255] : [])
                #expect(image.isClose(x: 15, y: y, frame: frame, to: expected, tolerance: tolerance))
            }
        }
    }

    @Test(arguments: [Fit.contain, .cover])
    func `frames are cropped and framed separately`(fit: Fit) throws {
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

    @Test func `by default an animation becomes its first frame`() throws {
        let result = try thumbnail(ImageFixture.gifAnimated.bytes, RenderingOptions(), .gif)
        #expect(try ImageHeader.inspect(result.bytes).frames == 1)
    }

    @Test(arguments: [ImageFixture.gifAnimated, .webpAnimated])
    func `a recipe may use the later frames, with another timing`(fixture: ImageFixture) throws {
        let result = try recipe(fixture) { draft in
            (draft.page, draft.frames) = (1, 2)
            draft.timing = FrameTiming(delays: [40], loop: 7)
        }
        let image = try ImageReading.decode(result.bytes)
        #expect(image.frames == 2 && image.delays == [40, 300] && image.loop == 7)
        #expect(image.isClose(x: 15, y: 9, frame: 0, to: [0, 255, 0] + (image.hasAlpha ? [255] : [])))
        #expect(image.isClose(x: 15, y: 9, frame: 1, to: [0, 0, 255] + (image.hasAlpha ? [255] : [])))
        #expect(throws: ImagingError.noSuchPage(3, pages: 3)) { try recipe(fixture) { $0.page = 3 } }
    }

    @Test func `a recipe may stack frames in a format of stills`() throws {
        for format in [ImageFormat.png, .jpeg] {
            let result = try recipe(.gifAnimated) { draft in
                (draft.frames, draft.format, draft.stacksFrames) = (3, format, true)
            }
            let image = try ImageReading.decode(result.bytes)
            let (width, height) = (ImageFixture.size.width, ImageFixture.size.height)
            #expect(image.size == PixelSize(width: width, height: 3 * height))
            for (frame, color) in [[255, 0, 0], [0, 255, 0], [0, 0, 255]].enumerated() {
                let alpha = image.hasAlpha ? [255] : []
                #expect(image.isClose(x: 9, y: frame * height + 5, to: color + alpha, tolerance: 6))
            }
        }
        // A PNG result of another recipe with the same steps is an animation, and a different file.
        let header = try ImageHeader.inspect(ImageFixture.gifAnimated.bytes)
        let plans = try [true, false].map { stacks in
            try RenderPlan(
                FixedRecipe(change: "\(stacks)") { draft in
                    (draft.frames, draft.format, draft.stacksFrames) = (3, .png, stacks)
                }, source: header)
        }
        #expect(plans.map(\.isStacked) == [true, false] && plans[0].keyTexts != plans[1].keyTexts)
        // A worker process that encodes gets only the first frame.
        let still = try recipe(.gifAnimated) { draft in
            (draft.frames, draft.format, draft.stacksFrames) = (3, .avif, true)
        }
        #expect(try ImageHeader.inspect(still.bytes).size == ImageFixture.size)
    }

    @Test func `a stack that is too tall for its format is rejected`() {
        let header = ImageHeader(format: .gif, storedSize: PixelSize(width: 10, height: 30_000), frames: 3)
        let recipe = FixedRecipe(change: "") { draft in
            (draft.frames, draft.format, draft.stacksFrames) = (3, .jpeg, true)
        }
        #expect(throws: ImagingError.sideTooLong(header.size, format: .jpeg)) {
            try RenderPlan(recipe, source: header)
        }
    }

    @Test func `later frames and another timing are part of a plan's key`() throws {
        let header = try ImageHeader.inspect(ImageFixture.gifAnimated.bytes)
        let recipe = FixedRecipe(change: "") { draft in
            (draft.page, draft.frames) = (1, 2)
            draft.timing = FrameTiming(delays: [40, -3], loop: nil)
        }
        let plan = try RenderPlan(recipe, source: header)
        #expect(plan.keyTexts.first == "frames 2 from 1 level 1 refuse")
        #expect(plan.keyTexts.last == "delays 40,0 loop own")
    }

    /// The result of a recipe that keeps an animation's size and format except for one change.
    private func recipe(
        _ fixture: ImageFixture, _ change: @escaping @Sendable (inout RenderDraft) -> Void
    ) throws -> EncodedImage {
        try thumbnail(fixture.bytes, FixedRecipe(change: "\(fixture)", apply: change))
    }
}

/// A recipe that keeps an image's size and format except for one change; `keyText` distinguishes recipes.
private struct FixedRecipe: RenderRecipe {
    let change: String
    let apply: @Sendable (inout RenderDraft) -> Void

    init(change: String, apply: @escaping @Sendable (inout RenderDraft) -> Void) {
        (self.change, self.apply) = (change, apply)
    }

    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        var draft = RenderDraft(size: source.header.size, format: source.header.format, quality: .fixed(90))
        apply(&draft)
        return draft
    }

    var keyText: String { change }

    static func == (one: Self, other: Self) -> Bool { one.change == other.change }

    func hash(into hasher: inout Hasher) { hasher.combine(change) }
}
