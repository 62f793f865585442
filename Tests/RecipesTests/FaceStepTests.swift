import TestSupport
import Testing

@testable import Recipes

struct FaceStepTests {
    private static let rules: RenderingRules = {
        var rules = RenderingRules()
        rules.findsFaces = true
        return rules
    }()

    private func plan(
        _ width: Int, _ height: Int, of source: PixelSize = PixelSize(width: 1_000, height: 500),
        rules: RenderingRules = rules, change: (inout RenderingOptions) -> Void = { _ in }
    ) throws -> RenderPlan {
        let header = ImageHeader(format: .png, storedSize: source)
        let recipe = options(width, height, .cover) { options in
            (options.gravity, options.format) = (.face, .fixed(.png))
            change(&options)
        }
        return try RenderPlan(AnyRenderRecipe(recipe), of: RecipeSource(header: header, rules: rules))
    }

    /// A square face in an image of 1000×500; center and width are in thousandths.
    private func face(_ x: Int, _ y: Int, _ width: Int) -> Face {
        Face(x: 10 * x - 5 * width, y: 20 * y - 10 * width, width: 10 * width, height: 20 * width, confidence: 6_000)
    }

    private func crop(_ plan: RenderPlan, _ faces: [Face]) -> CropStep? {
        plan.resolvingFaces(faces).steps.lazy.compactMap { $0 as? CropStep }.first
    }

    @Test(arguments: [(100, 0), (300, 50), (500, 150), (800, 300), (980, 300)])
    func `a crop is centered on the face, within the image`(x: Int, left: Int) throws {
        let plan = try plan(200, 250)
        #expect(plan.needsFaces && plan.outputSize == PixelSize(width: 200, height: 250))
        #expect(crop(plan, [face(x, 250, 40)]) == CropStep(x: left, y: 0, size: PixelSize(width: 200, height: 250)))
    }

    @Test func `a zoom brings the crop closer to the face, up to its own size`() throws {
        let box = PixelSize(width: 200, height: 250)
        let crops = try [0, 50, 100].map { percent in
            // The crop is rendered at the source's size before it is reduced.
            let plan = try plan(200, 250) { $0.faceZoom = percent }
            #expect(plan.outputSize == box && plan.resolvingFaces([face(500, 250, 100)]).outputSize == box)
            #expect(plan.resolvingFaces([]).outputSize == box)
            return try #require(crop(plan, [face(500, 250, 100)]))
        }
        #expect(crops[0] == CropStep(x: 150, y: 0, size: box))
        #expect(crops[1] == CropStep(x: 375, y: 93, size: PixelSize(width: 250, height: 313)))
        #expect(crops[2] == CropStep(x: 450, y: 187, size: PixelSize(width: 100, height: 125)))
        let portrait = try plan(400, 500) { $0.faceZoom = 100 }
        #expect(crop(portrait, [face(500, 250, 100)]) == crops[2])
        #expect(try plan(1_000, 500) { $0.faceZoom = 100 }.needsFaces)
        #expect(try plan(200, 250) { ($0.faceZoom, $0.fit) = (100, .inside) }.needsFaces == false)
    }

    @Test func `of several faces as many as fit are kept, the largest first`() throws {
        let plan = try plan(200, 250)
        // The crop is 400 columns wide.
        let (large, near, far) = (face(500, 250, 100), face(700, 250, 60), face(900, 250, 50))
        #expect(crop(plan, [large, near, far])?.x == 195)
        #expect(crop(plan, [large, far, near])?.x == 195)
        #expect(crop(plan, [large, far])?.x == 150)
        #expect(crop(plan, [far, near])?.x == 298)
    }

    @Test func `a face that does not fit is cut on both sides`() throws {
        #expect(try crop(plan(100, 500), [face(400, 250, 300)])?.x == 350)
    }

    @Test func `without faces the crop is by attention`() throws {
        let plan = try plan(200, 250)
        let step = try #require(plan.resolvingFaces([]).steps.last as? InterestStep)
        #expect(step == InterestStep(.attention, size: PixelSize(width: 200, height: 250)))
        let outside = try self.plan(200, 250) { $0.operations.crop = .pixels(x: 0, y: 0, width: 500, height: 500) }
        #expect(outside.resolvingFaces([face(800, 250, 40)]).interest != nil)
        #expect(!outside.resolvingFaces([face(300, 250, 40)]).steps.contains { $0 is InterestStep })
    }

    @Test func `where faces are not found, the plan is that of attention`() throws {
        let plan = try plan(200, 250, rules: RenderingRules())
        #expect(!plan.needsFaces)
        #expect(try plan.keyTexts == self.plan(200, 250, rules: RenderingRules()) { $0.gravity = .attention }.keyTexts)
    }

    @Test func `keys differ from those of attention, and are the same for all faces`() throws {
        let plan = try plan(200, 250)
        #expect(plan.keyTexts.contains("face 200x250"))
        #expect(try plan.keyTexts != self.plan(200, 250) { $0.gravity = .attention }.keyTexts)
        #expect(try plan == self.plan(200, 250))
        #expect(plan.resolvingFaces([face(300, 250, 40)]) != plan)
    }

    @Test func `a turn moves the faces`() throws {
        let right = try plan(250, 200) { $0.operations.rotation = 90 }
        // After the turn, the left of the image is its top.
        #expect(crop(right, [face(100, 250, 40)])?.y == 0 && crop(right, [face(900, 250, 40)])?.y == 300)
        let mirrored = try plan(200, 250) { $0.operations.flip = .horizontal }
        #expect(crop(mirrored, [face(100, 250, 40)])?.x == 300)
    }

    @Test(arguments: [
        (PixelSize(width: 640, height: 480), ImageFormat.jpeg, 1), (PixelSize(width: 1_600, height: 1_200), .jpeg, 2),
        (PixelSize(width: 4_000, height: 3_000), .jpeg, 8), (PixelSize(width: 8_000, height: 6_000), .jpeg, 8),
        (PixelSize(width: 1_600, height: 1_200), .png, 1), (PixelSize(width: 4_000, height: 3_000), .png, 4),
        (PixelSize(width: 8_000, height: 6_000), .png, 8),
    ])
    func `the level in which faces are sought depends on the header alone`(
        size: PixelSize, format: ImageFormat, level: Int
    ) throws {
        let header = ImageHeader(format: format, storedSize: size)
        #expect(try DecodePlan(forFacesIn: header, limits: ImagingLimits()).level == level)
        let small = options(30, 40, .cover) { ($0.gravity, $0.format) = (.face, .fixed(.png)) }
        let plan = try RenderPlan(AnyRenderRecipe(small), of: RecipeSource(header: header, rules: Self.rules))
        #expect(plan.decode.level == level)
    }

    @Test func `later pages are cropped by attention`() throws {
        let header = ImageHeader(format: .gif, storedSize: PixelSize(width: 1_000, height: 500), frames: 3)
        let recipe = options(200, 250, .cover) { options in
            (options.gravity, options.format, options.page) = (.face, .fixed(.png), 1)
        }
        #expect(
            try !RenderPlan(AnyRenderRecipe(recipe), of: RecipeSource(header: header, rules: Self.rules)).needsFaces)
    }
}
