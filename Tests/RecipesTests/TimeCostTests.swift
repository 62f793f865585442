import Recipes
import TestSupport
import Testing

/// Time costs of decodes and renders, which depend only on sizes and formats.
struct TimeCostTests {
    private static func header(
        _ format: ImageFormat, _ width: Int, _ height: Int, frames: Int = 1, hasAlpha: Bool = false,
        bands: Int = 3, isProgressive: Bool = false
    ) -> ImageHeader {
        ImageHeader(
            format: format, storedSize: PixelSize(width: width, height: height), bands: bands, frames: frames,
            hasAlpha: hasAlpha, isProgressive: isProgressive)
    }

    @Test(
        arguments: [
            // Common images: photographs, screenshots and small animations.
            (header(.jpeg, 6_000, 4_000), DecodePlan(level: 8), 8 << 20, false),
            (header(.jpeg, 6_000, 4_000), DecodePlan(level: 2), 8 << 20, false),
            (header(.jpeg, 4_000, 3_000, isProgressive: true), DecodePlan(level: 4), 4 << 20, false),
            (header(.jpeg, 4_000, 3_000, isProgressive: true), DecodePlan(), 4 << 20, false),
            (header(.jpeg, 4_000, 3_000, bands: 4), DecodePlan(level: 4), 4 << 20, false),
            (header(.jpeg, 4_000, 3_000, bands: 4), DecodePlan(), 4 << 20, true),
            (header(.png, 3_840, 2_160), DecodePlan(), 6 << 20, false),
            (header(.webp, 4_000, 3_000), DecodePlan(), 2 << 20, false),
            (header(.avif, 2_000, 1_500), DecodePlan(), 1 << 20, false),
            (header(.gif, 480, 270, frames: 60), DecodePlan(isAnimated: true), 4 << 20, false),
            // Small files may contain large images.
            (header(.png, 10_000, 10_000), DecodePlan(), 100 << 10, true),
            (header(.jpeg, 10_000, 10_000), DecodePlan(), 100 << 10, true),
            (header(.avif, 4_000, 3_000), DecodePlan(), 1_000, true),
            // Long files may contain few pixels.
            (header(.jpeg, 100, 100), DecodePlan(), 64 << 20, true),
            // A late frame needs all frames before it; the first does not.
            (header(.gif, 1_000, 1_000, frames: 1_000), DecodePlan(page: 999), 1 << 20, true),
            (header(.gif, 1_000, 1_000, frames: 1_000), DecodePlan(page: 0), 1 << 20, false),
        ] as [(ImageHeader, DecodePlan, Int, Bool)])
    func `a decode's cost depends on its pixels, frames and bytes`(
        header: ImageHeader, plan: DecodePlan, byteCount: Int, isExpensive: Bool
    ) {
        let cost = header.timeCost(of: plan, fileByteCount: byteCount)
        #expect(cost.isExpensive == isExpensive, "\(cost)")
    }

    @Test(
        arguments: [
            (.jpeg, 1_900, false), (.png, 1_400, false), (.webp, 1_000, false), (.jxl, 1_000, false),
            (.gif, 600, false), (.avif, 600, false),
            (.jpeg, 5_000, true), (.png, 2_000, true), (.webp, 2_000, true), (.jxl, 2_000, true), (.gif, 1_280, true),
            (.avif, 1_280, true),
        ] as [(ImageFormat, Int, Bool)])
    func `a render's cost depends on its format and pixels, even with a small source`(
        format: ImageFormat, side: Int, isExpensive: Bool
    ) throws {
        let plan = try plan(64, 64, options(side, side, .fill, enlarge: true), format: format)
        let cost = plan.timeCost(of: Self.header(.jpeg, 64, 64))
        #expect(cost.isExpensive == isExpensive, "\(cost)")
    }

    @Test func `a frame whose predecessors exceed the decode's time is rejected`() throws {
        let header = Self.header(.gif, 1_000, 1_000, frames: 2_000)
        var limits = ImagingLimits()
        func plan(_ page: Int) throws -> RenderPlan {
            try RenderPlan(options: options(20, 20) { $0.page = page }, format: .png, source: header, limits: limits)
        }
        #expect(try plan(100).decode.page == 100)
        #expect(throws: ImagingError.frameTooLate(1_999)) { try plan(1_999) }
        limits.longestSteps = .seconds(60)
        #expect(try plan(1_999).decode.page == 1_999)
        // The first frame, and a page of a document, need no others.
        limits.longestSteps = .milliseconds(1)
        #expect(try plan(0).decode.page == 0)
    }

    @Test func `ratios match the measurements`() throws {
        let source = Self.header(.png, 1_000, 1_000)
        func cost(_ format: ImageFormat, quality: Int? = nil, from source: ImageHeader = source) throws -> Duration {
            try RenderPlan(
                options: options(1_000, 1_000) { $0.quality = quality }, format: format, source: source,
                limits: ImagingLimits()
            ).timeCost(of: source)
        }
        let ordered = [
            try cost(.jpeg), try cost(.png), try cost(.webp), try cost(.gif), try cost(.avif),
            try cost(.avif, quality: 90),
        ]
        #expect(ordered == ordered.sorted(), "\(ordered)")
        let transparent = Self.header(.png, 1_000, 1_000, hasAlpha: true)
        #expect(try cost(.webp, from: transparent) > cost(.webp))
        // Unchanged pixels cost only their encoding, and the background behind transparent ones.
        #expect(try cost(.jpeg) == .milliseconds(34))
        #expect(try cost(.jpeg, from: transparent) == .milliseconds(39))
        #expect(try cost(.jpeg, from: Self.header(.png, 1_001, 1_001)) > cost(.jpeg))
    }

    @Test func `every frame costs, a crop only its pixels, and a search for the salient part all of them`() throws {
        let source = Self.header(.gif, 400, 400, frames: 30)
        func cost(_ change: (inout RenderingOptions) -> Void) throws -> Duration {
            try RenderPlan(
                options: options(200, 200, .cover, change: change), format: .gif, source: source,
                limits: ImagingLimits()
            ).timeCost(of: source)
        }
        let still = try cost { _ in }
        // Choosing the colors of a still image has a separate cost.
        #expect(try cost { $0.isAnimated = true } > (still - .milliseconds(45)) * 30)
        let tiny = try RenderPlan(
            options: options(1, 1) { $0.isAnimated = true }, format: .webp,
            source: Self.header(.gif, 2, 2, frames: 60), limits: ImagingLimits())
        #expect(tiny.timeCost(of: Self.header(.gif, 2, 2, frames: 60)) > .milliseconds(100))
        let thin = options(1, 4_000, .cover, enlarge: true)
        let cut = try plan(64, 64, thin).timeCost(of: Self.header(.jpeg, 64, 64))
        #expect(cut < .milliseconds(2))
        let searched = try plan(64, 64, options(1, 4_000, .cover, enlarge: true) { $0.gravity = .entropy })
        #expect(searched.timeCost(of: Self.header(.jpeg, 64, 64)).isExpensive)
    }

    @Test func `a file that is large for its pixels costs by its bytes, and no file less than its pixels`() {
        let header = Self.header(.webp, 3_000, 2_000)
        func cost(_ byteCount: Int) -> Duration { header.timeCost(of: DecodePlan(), fileByteCount: byteCount) }
        #expect(cost(0) == cost(1_000_000) && !cost(1_000_000).isExpensive)
        #expect(cost(6_000_000) > cost(1_000_000) * 3)
        // Every row has a cost, however short.
        let column = Self.header(.png, 1, 60_000), row = Self.header(.png, 60_000, 1)
        #expect(column.timeCost(of: DecodePlan()) > row.timeCost(of: DecodePlan()) + .milliseconds(5))
    }

    @Test func `frames of an animation cost more than stills`() {
        let still = Self.header(.webp, 1_000, 1_000)
        let moving = Self.header(.webp, 1_000, 1_000, frames: 10)
        let frames = moving.timeCost(of: DecodePlan(isAnimated: true))
        #expect(frames > still.timeCost(of: DecodePlan()) * 20)
    }

    @Test func `CMYK costs at every level, most of all in scans`() {
        let plan = DecodePlan(level: 8)
        let color = Self.header(.jpeg, 3_000, 2_000).timeCost(of: plan)
        let cmyk = Self.header(.jpeg, 3_000, 2_000, bands: 4)
        let progressive = Self.header(.jpeg, 3_000, 2_000, bands: 4, isProgressive: true)
        #expect(cmyk.timeCost(of: plan) > color + .milliseconds(40))
        #expect(progressive.timeCost(of: plan) > cmyk.timeCost(of: plan) + .milliseconds(100))
    }

    @Test func `a palette has a cost at any size`() {
        func cost(_ format: ImageFormat, quality: Int) -> Duration {
            RenderPlan(resizedSize: PixelSize(width: 10, height: 10), format: format, quality: quality)
                .timeCost(of: Self.header(.png, 10, 10))
        }
        #expect(cost(.gif, quality: 100) > .milliseconds(40))
        #expect(cost(.png, quality: 100) < .milliseconds(1) && cost(.png, quality: 80) > .milliseconds(40))
    }

    @Test func `steps that weight colors by alpha cost more with alpha`() {
        let size = PixelSize(width: 1_000, height: 1_000), part = PixelSize(width: 100, height: 100)
        let larger = PixelSize(width: 2_000, height: 2_000)
        for step in [
            GaussianStep(.blur, sigma: 200_000), GaussianStep(.sharpen, sigma: 200_000), BackgroundStep(.white),
            InterestStep(.attention, size: part), InterestStep(.entropy, size: part),
            BackdropStep(.blurred(sigma: 500_000), size: larger, x: 0, y: 0), ResampleStep(to: part),
        ] as [any RenderStep] {
            let opaque = Self.nanoseconds(step, on: FrameShape(size: size, hasAlpha: false))
            let transparent = Self.nanoseconds(step, on: FrameShape(size: size, hasAlpha: true))
            #expect(transparent > opaque, "\(step)")
        }
    }

    @Test func `steps cost according to their work`() throws {
        let frame = FrameShape(size: PixelSize(width: 1_000, height: 1_000), hasAlpha: true)
        let small = try #require(ConvolutionStep(factors: [0, 1, 0, 1, 2, 1, 0, 1, 0], columns: 3))
        let large = try #require(ConvolutionStep(factors: [Int](repeating: 1, count: 225), columns: 15))
        let one = CopyPositions(start: 0)
        func blend(_ mode: BlendMode) -> BlendStep {
            BlendStep(.color(.white, size: frame.size), across: one, down: one, mode: mode, opacity: 50)
        }
        for (cheap, expensive) in [
            (small, large), (blend(.multiply), blend(.softLight)), (blend(.screen), blend(.colorBurn)),
            (BackgroundStep(.white), BackgroundStep(Color(red: 0, green: 0, blue: 0, alpha: 128))),
            (ColorFormulaStep(.matrix([1, 0, 0, 0, 1, 0, 0, 0, 1])), ColorFormulaStep(.saturation(5_000))),
            (
                ResampleStep(to: PixelSize(width: 999, height: 1_000)),
                ResampleStep(to: PixelSize(width: 1_001, height: 1_000))
            ),
        ] as [(any RenderStep, any RenderStep)] {
            let shape = FrameShape(size: frame.size, hasAlpha: !(cheap is ResampleStep))
            #expect(Self.nanoseconds(cheap, on: shape) < Self.nanoseconds(expensive, on: shape) * 0.9, "\(expensive)")
        }
    }

    private static func nanoseconds(_ step: any RenderStep, on frame: FrameShape) -> Double {
        RenderSteps([step]).costs(on: frame).reduce(0) { $0 + $1.perFrame + $1.once }
    }

    @Test func `monstrous claims saturate`() {
        let header = Self.header(.gif, .max, .max, frames: .max)
        #expect(
            header.timeCost(of: DecodePlan(isAnimated: true), fileByteCount: .max)
                == .nanoseconds(1_000_000_000_000_000_000))
    }
}
