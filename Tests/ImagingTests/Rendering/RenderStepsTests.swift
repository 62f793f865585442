import Coordination
import Imaging
import Memory
import TestSupport
import Testing

@testable import Recipes

@Suite(.timeLimit(.minutes(1)))
struct RenderStepsTests {
    private static let whole = FrameShape(size: ImageFixture.size, hasAlpha: false)
    private static let corner = CropStep(x: 44, y: 0, size: PixelSize(width: 20, height: 20))
    private static let frame = CanvasStep(
        size: PixelSize(width: 84, height: 68), x: 10, y: 10, color: Color(red: 0, green: 0, blue: 0))

    private static func render(
        _ source: ImageFixture, _ steps: RenderSteps, as format: ImageFormat = .png
    ) throws -> DecodedImage {
        try ImageLibrary.start()
        let header = try ImageHeader.inspect(source.bytes)
        let plan = RenderPlan(source: header.shape, steps: steps, format: format, quality: 90)
        let image = try ImageDecoder.decode(
            source.bytes, header: header, plan: plan.decode, limits: ImagingLimits(), token: WorkToken())
        let result = try ImageRenderer.render(image, plan: plan, token: WorkToken())
        #expect(result.size == plan.outputSize)
        var limits = ImagingLimits()
        limits.sourceFormats.insert(.avif)
        return try ImageDecoder.decode(
            result.bytes, header: ImageHeader.inspect(result.bytes), plan: DecodePlan(), limits: limits,
            token: WorkToken()
        ).interleavedInSRGB(token: WorkToken())
    }

    @Test(arguments: [ImageFixture.jpeg, .png, .webp], [ImageFormat.jpeg, .webp, .avif, .png])
    func `a step that only libvips supports works in every format, with any source`(
        source: ImageFixture, format: ImageFormat
    ) throws {
        let small = PixelSize(width: 32, height: 24)
        for steps in [
            [Framing(), ResampleStep(to: small)], [ResampleStep(to: small), Framing()],
            [ResampleStep(to: small), Framing(), CropStep(x: 0, y: 0, size: small)],
        ] as [RenderSteps] {
            let image = try Self.render(source, steps, as: format)
            #expect(image.isClose(x: 1, y: 1, to: [0, 0, 0], tolerance: 24), "\(steps)")
        }
    }

    // If each tile recomputed the steps before it, this would take hours.
    @Test(.timeLimit(.minutes(1))) func `sizes that alternate compute each size once`() throws {
        let pair: [any RenderStep] = [
            ResampleStep(to: PixelSize(width: 1_000, height: 1_000)),
            ResampleStep(to: PixelSize(width: 10, height: 10)),
        ]
        _ = try Self.render(.jpeg, RenderSteps((0..<5).flatMap { _ in pair }))
    }

    // If each row of a reduction recomputed the reductions before it, this would take hours.
    @Test(.timeLimit(.minutes(1))) func `reductions in a row compute each size once`() throws {
        let sides = [1_000, 990, 980, 970, 960, 950, 940, 930, 920, 10]
        _ = try Self.render(.jpeg, RenderSteps(sides.map { ResampleStep(to: PixelSize(width: $0, height: $0)) }))
    }

    @Test func `the memory for the input of a resample after other steps counts`() {
        let (small, large) = (PixelSize(width: 300, height: 200), PixelSize(width: 600, height: 400))
        func bytes(_ steps: RenderSteps) -> Int {
            steps.costs(on: FrameShape(size: large, hasAlpha: false)).reduce(0) { $0 + $1.bytes }
        }
        let turn = TurnStep(.mirrorX)
        #expect(bytes([turn, ResampleStep(to: small)]) == bytes([turn]) + 3 * large.area)
        #expect(bytes([CropStep(x: 0, y: 0, size: large), ResampleStep(to: small)]) == 0)
    }

    @Test func `the memory for the input of an enlargement counts`() {
        let (small, large) = (PixelSize(width: 300, height: 200), PixelSize(width: 600, height: 400))
        func bytes(_ step: some RenderStep, of size: PixelSize) -> Int {
            RenderSteps([step]).costs(on: FrameShape(size: size, hasAlpha: false)).reduce(0) { $0 + $1.bytes }
        }
        #expect(bytes(ResampleStep(to: large), of: small) == 3 * small.area)
        #expect(bytes(ResampleStep(to: small), of: large) == 0)
        #expect(bytes(ZoomStep(factor: 2), of: small) == 3 * small.area)
    }

    @Test(arguments: [ImageFixture.jpeg, .png])
    func `steps are applied in order`(source: ImageFixture) throws {
        let framed = try Self.render(source, [Self.frame, Self.corner])
        #expect(framed.isClose(x: 2, y: 2, to: [0, 0, 0]))
        let cut = try Self.render(source, [Self.corner, ResampleStep(to: PixelSize(width: 40, height: 40))])
        #expect(cut.size == PixelSize(width: 40, height: 40))
        #expect(cut.isClose(x: 20, y: 20, to: [0, 255, 0], tolerance: 12))
        let doubled = try Self.render(
            source, [ResampleStep(to: PixelSize(width: 128, height: 96)), Self.corner, Self.frame])
        #expect(doubled.isClose(x: 20, y: 20, to: [255, 0, 0], tolerance: 12))
        #expect(doubled.isClose(x: 2, y: 2, to: [0, 0, 0]))
    }

    @Test(arguments: [ImageFixture.jpeg, .png])
    func `without steps the image is unchanged`(source: ImageFixture) throws {
        let image = try Self.render(source, [])
        #expect(image.size == ImageFixture.size && image.isClose(x: 60, y: 4, to: [0, 255, 0], tolerance: 12))
    }

    @Test(arguments: [ImageFixture.jpeg, .png])
    func `a crop of a crop is a crop`(source: ImageFixture) throws {
        let once = try Self.render(source, [CropStep(x: 35, y: 3, size: PixelSize(width: 17, height: 18))])
        let inner = CropStep(x: 5, y: 3, size: PixelSize(width: 17, height: 18))
        let twice = try Self.render(
            source, [CropStep(x: 30, y: 0, size: PixelSize(width: 30, height: 40)), inner])
        #expect(once.pixels.array == twice.pixels.array)
    }

    @Test(arguments: [ImageFixture.jpeg, .png], [ImageFormat.jpeg, .png])
    func `a crop beyond the edge fails`(source: ImageFixture, format: ImageFormat) throws {
        for (x, y) in [(-1, 0), (0, -1), (45, 0), (0, 29)] {
            #expect(throws: ImagingError.self) {
                try Self.render(source, [CropStep(x: x, y: y, size: Self.corner.size)], as: format)
            }
        }
    }

    @Test func `lists with the same steps in the same order are equal`() {
        let small = ResampleStep(to: PixelSize(width: 20, height: 20))
        let lists: [RenderSteps] = [
            [], [small], [Self.corner], [small, Self.corner], [Self.corner, small], [small, small],
            [ResampleStep(to: small.size, in: .linear)], [InterestStep(.entropy, size: small.size)],
            [InterestStep(.attention, size: small.size)], [BackgroundStep(.white)], [BackgroundStep(.transparent)],
            [Self.frame], [Framing()],
        ]
        for (index, list) in lists.enumerated() {
            for (other, another) in lists.enumerated() { #expect((list == another) == (index == other)) }
        }
        #expect(Set(lists + lists).count == lists.count)
    }

    @Test func `steps declare their effect on size and alpha`() {
        let cases: [(RenderSteps, FrameShape)] = [
            ([], Self.whole), ([Self.corner], FrameShape(size: Self.corner.size, hasAlpha: false)),
            ([Self.corner, Self.frame], FrameShape(size: Self.frame.size, hasAlpha: false)),
            (
                [CanvasStep(size: Self.frame.size, x: 0, y: 0, color: .transparent)],
                FrameShape(size: Self.frame.size, hasAlpha: true)
            ),
            (
                [CanvasStep(size: Self.frame.size, x: 0, y: 0, color: .transparent), BackgroundStep(.white)],
                FrameShape(size: Self.frame.size, hasAlpha: false)
            ),
        ]
        for (steps, shape) in cases { #expect(steps.shape(after: Self.whole) == shape) }
    }

    @Test func `a step's cost is part of the plan's cost`() throws {
        let header = try ImageHeader.inspect(ImageFixture.png.bytes)
        func plan(_ steps: RenderSteps) -> RenderPlan {
            RenderPlan(source: Self.whole, steps: steps, format: .png, quality: 100)
        }
        let (plain, framed) = (plan([Self.frame]), plan([Framing()]))
        #expect(framed.cost == plain.cost + 1_000)
        let own = plain.steps.costs(on: Self.whole)[0].perFrame
        #expect(
            framed.timeCost(of: header) == plain.timeCost(of: header) + .nanoseconds(5_000_000 - Int64(own)))
    }
}

/// A step that no lane knows: a black frame, ten pixels wide.
private struct Framing: VipsStep {
    let summary = "frame"
    func shape(after input: FrameShape) -> FrameShape {
        FrameShape(
            size: PixelSize(width: input.size.width + 20, height: input.size.height + 20), hasAlpha: input.hasAlpha)
    }

    func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { wanted }

    func cost(of work: StepWork) -> StepCost { StepCost(perFrame: 5_000_000, bytes: 1_000) }

    var keyText: String { "framing" }

    func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let size = PixelSize(width: image.width + 20, height: image.height + 20)
        return try CanvasStep(size: size, x: 10, y: 10, color: Color(red: 0, green: 0, blue: 0))
            .applied(to: image, in: &context)
    }
}
