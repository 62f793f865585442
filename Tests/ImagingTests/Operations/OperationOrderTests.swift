import Imaging
import Memory
import TestSupport
import Testing

@testable import Recipes

@Suite(.timeLimit(.minutes(1)))
struct OperationOrderTests {
    private static func all(_ operations: inout ImageOperations) {
        operations.crop = .pixels(x: 100, y: 0, width: 400, height: 300)
        (operations.flip, operations.rotation) = (.horizontal, 10)
        (operations[.brightness], operations[.inversion]) = (120, 5)
        (operations[.blur], operations[.sharpen], operations[.pixelate]) = (100, 50, 4)
        operations.pad = .init(top: 5, right: 5, bottom: 5, left: 5)
        (operations.radius, operations.mask) = (.pixels(8), .star)
    }

    @Test func `a plan with all operations is written out in their documented order`() throws {
        var options = options(100, 100, .contain)
        options.background = .white
        Self.all(&options.operations)
        #expect(
            try plan(800, 600, options, format: .png).keyTexts == [
                "page 0 level 2 refuse", "resample 100x75 gamma.2 of 100,0 400x300", "turn 2",
                "canvas 100x100 0,12 0,0,0,0", "rotate 10", "colors 120 100 100 0 0 0 5", "blur 100000",
                "sharpen 50000", "pixelate 4", "background 255,255,255,255", "pad 5,5,5,5 255,255,255,255",
                "radius 8000 255,255,255,255", "mask star 255,255,255,255", "png.4 100",
            ])
    }

    @Test func `a cover crops the rotated image`() throws {
        var options = options(100, 100, .cover)
        options.gravity = .topLeft
        options.operations.rotation = 90
        #expect(
            try plan(800, 600, options, format: .png).keyTexts == [
                "page 0 level 2 refuse", "resample 133x100 gamma.2", "crop 0,0 100x100", "turn 6", "png.4 100",
            ])
        options.gravity = .bottomRight
        #expect(try plan(800, 600, options, format: .png).keyTexts[2] == "crop 33,0 100x100")
        options.gravity = .attention
        #expect(
            try plan(800, 600, options, format: .png).keyTexts.suffix(3) == [
                "turn 6", "attention 100x100", "png.4 100",
            ])
    }

    @Test func `every option makes another plan, so that none is missing in the steps`() throws {
        let changes: [String: (inout ImageOperations) -> Void] = [
            "crop": { $0.crop = .pixels(x: 100, y: 0, width: 400, height: 300) }, "flip": { $0.flip = .vertical },
            "rotation": { $0.rotation = 10 }, "pad": { $0.pad.left = 1 },
            "radius": { $0.radius = .maximum }, "mask": { $0.mask = .heart },
        ]
        // `trim` is applied before there is a plan.
        let names = Set(Mirror(reflecting: ImageOperations()).children.compactMap(\.label))
        #expect(names == Set(changes.keys).union(["trim", "numbers"]))
        let plain = try plan(800, 600, options(100, nil))
        let numbers = Operations.parameters.map { parameter in
            (parameter.name, { (operations: inout ImageOperations) in operations[parameter] = 77 })
        }
        for (name, change) in changes.map({ ($0, $1) }) + numbers {
            #expect(try plan(800, 600, options(100, nil) { change(&$0.operations) }) != plain, "\(name)")
        }
    }

    @Test func `values without an effect make the plan without them`() throws {
        let plain = try plan(800, 600, options(100, nil))
        for change in [
            { $0.crop = .pixels(x: 0, y: 0, width: 9_000, height: 600) },
            { $0.crop = .fractions(x: 0, y: 0, width: 10_000, height: 10_000) },
            { ($0.flip, $0.rotation) = (.both, 180) },
            { $0.radius = .pixels(0) },
        ] as [(inout ImageOperations) -> Void] {
            let other = try plan(800, 600, options(100, nil) { change(&$0.operations) })
            #expect(other == plain)
        }
    }

    @Test func `colors precede blur, and pixelate precedes pad`() throws {
        // Cropped first, then blurred: otherwise the edge would stay white.
        let edge = SampleImage(PixelSize(width: 60, height: 20), bands: 3) { x, _ in
            x < 30 ? [0, 0, 0] : [255, 255, 255]
        }
        let result = try OperationFixture.render(edge) { ($0[.brightness], $0[.blur]) = (400, 300) }
        #expect(abs(result.values(31, 10)[0] - 177) < 12)
        let padded = try OperationFixture.render(edge) {
            $0[.pixelate] = 20
            $0.pad = .init(top: 3, right: 3, bottom: 3, left: 3)
        }
        #expect(padded.values(2, 10) == [0, 0, 0, 0] && padded.values(3, 10) == [0, 0, 0, 255])
        #expect(padded.values(25, 10) == [128, 128, 128, 255] && padded.values(43, 10) == [255, 255, 255, 255])
    }

    @Test(arguments: [ImageFixture.gifAnimated, .webpAnimated], [ImageFormat.gif, .webp])
    func `operations apply to every frame`(fixture: ImageFixture, format: ImageFormat) throws {
        let result = try OperationFixture.render(
            fixture.bytes, options(32, nil) { $0.isAnimated = true }, as: format
        ) {
            $0.crop = .pixels(x: 0, y: 0, width: 32, height: 48)
            ($0.rotation, $0[.blur], $0[.inversion]) = (90, 100, 100)
            $0.pad = .init(top: 2, right: 2, bottom: 2, left: 2)
            $0.radius = .pixels(4)
        }
        #expect(result.size == PixelSize(width: 36, height: 25) && result.frames == 3)
        #expect(result.delays == [100, 200, 300])
        for (frame, color) in [[0, 255, 255], [255, 0, 255], [255, 255, 0]].enumerated() {
            #expect(result.isClose(x: 18, y: 12, frame: frame, to: color + [255], tolerance: 20))
            #expect(result.values(0, 0, frame: frame)[3] == 0)
        }
    }

    @Test(arguments: [ImageFixture.jpeg, .png, .webp, .gif, .pngHalfTransparent, .pngGrayAlpha, .jpegGrayRamp])
    func `all operations together work with any source and format`(source: ImageFixture) throws {
        for format in ImageFormat.written {
            var options = options(40, 40, .contain)
            options.devicePixelRatio = 1_500
            Self.all(&options.operations)
            options.operations.crop = .fractions(x: 1_000, y: 0, width: 5_000, height: 10_000)
            let result = try thumbnail(source.bytes, options, format)
            #expect(try ImageHeader.inspect(result.bytes).size == result.size)
        }
    }

    @Test(arguments: [ImageFormat.jpeg, .webp, .png], [80, 95])
    func `planes and pixels change alike`(format: ImageFormat, quality: Int) throws {
        let file = ImageFixture.photo(width: 601, height: 459)
        for change in [
            { $0[.brightness] = 150 }, { $0[.contrast] = 60 }, { $0[.saturation] = 30 },
            { $0[.hue] = 90 }, { $0[.sepia] = 80 }, { $0[.inversion] = 100 }, { $0[.blur] = 200 },
            { $0[.blur] = 1_500 }, { $0[.sharpen] = 80 }, { ($0.radius, $0.mask) = (.pixels(30), .heart) },
            { ($0.pad, $0.radius) = (.init(top: 4, right: 5, bottom: 7, left: 10), .maximum) },
            { $0.pad = .init(top: 4, right: 5, bottom: 7, left: 11) },
            { ($0.pad, $0.mask) = (.init(top: 20, right: 4, bottom: 7, left: 10), .circle) },
            { ($0.rotation, $0[.contrast], $0[.grayscale], $0[.inversion]) = (90, 150, 50, 20) },
        ] as [(inout ImageOperations) -> Void] {
            let options = options(151, nil) {
                $0.quality = quality
                change(&$0.operations)
            }
            let comparison = try LaneComparison(file, options, format)
            #expect(comparison.noiseDistance > 27, "\(options.operations) \(comparison.noiseDistance)")
        }
    }

    @Test func `operations have a cost`() throws {
        let plain = try plan(800, 600, options(300, nil), format: .png)
        let source = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 800, height: 600))
        for change in [
            { $0.rotation = 10 }, { $0[.hue] = 10 }, { $0[.blur] = 200 }, { $0[.blur] = 2_000 }, { $0[.pixelate] = 4 },
            { $0.mask = .star }, { $0.rotation = 90 }, { $0.radius = .maximum },
        ] as [(inout ImageOperations) -> Void] {
            let plan = try plan(800, 600, options(300, nil) { change(&$0.operations) }, format: .png)
            #expect(plan.cost > plain.cost)
            #expect(plan.timeCost(of: source) > plain.timeCost(of: source))
        }
        let trimmed = try Self.trimmed(800, 600)
        #expect(trimmed.cost > plain.cost + 800 * 600 * 4)
    }

    @Test(arguments: [(1, 65_535), (65_535, 1), (8, 8_192), (64, 1_024), (1_024, 64)], [10, 700, 800, 3_000, 10_000])
    func `a blur's cost depends on its rows and columns`(shape: (Int, Int), hundredths: Int) throws {
        func cost(_ width: Int, _ height: Int) -> StepCost {
            let frame = FrameShape(size: PixelSize(width: width, height: height), hasAlpha: false)
            let steps = RenderSteps([GaussianStep(.blur, sigma: hundredths * 1_000)])
            return steps.costs(on: frame)[0]
        }
        let (square, other) = (cost(256, 256), cost(shape.0, shape.1))
        // Measured: the length of repeated edges matters by at most five times; with weights, the number of rows more.
        let maximum = hundredths < 800 ? 24.0 : 5
        #expect(other.perFrame < maximum * square.perFrame && square.perFrame < 5 * other.perFrame)
        #expect(hundredths < 800 || shape.0 != 64 || other.perFrame > square.perFrame)
        #expect(hundredths != 700 || shape.0 != 1 || other.perFrame > 10 * square.perFrame)
        #expect(other.bytes < 3 * square.bytes)
    }

    private static func trimmed(_ width: Int, _ height: Int) throws -> RenderPlan {
        try plan(width, height, options(300, nil) { $0.operations.trim = .init(tolerance: 1) }, format: .png)
    }
}
