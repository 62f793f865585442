import Recipes
import TestSupport
import Testing

struct RenderPlanTests {
    private func animation(frames: Int, side: Int = 100) -> ImageHeader {
        ImageHeader(
            format: .gif, storedSize: PixelSize(width: side, height: side), bands: 4, frames: frames, hasAlpha: true)
    }

    private func make(
        _ source: ImageHeader, _ options: RenderingOptions = RenderingOptions(), as format: ImageFormat,
        isNamed: Bool = false, limits: ImagingLimits = ImagingLimits()
    ) throws(ImagingError) -> RenderPlan {
        try RenderPlan(options: options, format: format, isFormatChosen: isNamed, source: source, limits: limits)
    }

    @Test func `options with the same result make equal plans`() throws {
        let plain = try plan(400, 300, options(200, 150))
        #expect(try plan(400, 300, options(200, nil)) == plain)
        #expect(try plan(400, 300, options(100, 75) { $0.devicePixelRatio = 2_000 }) == plain)
        #expect(try plan(400, 300, options(nil, nil) { $0.devicePixelRatio = 500 }) == plain)
        for fit in [Fit.outside, .contain, .fill] {
            #expect(try plan(400, 300, options(200, nil, fit)) == plain)
        }
        #expect(try plan(400, 300, options(200, nil) { $0.gravity = .attention }) == plain)
        #expect(try plan(400, 300, options(200, nil) { $0.background = .white }) == plain)
        #expect(try plan(400, 300, options(200, nil) { $0.quality = 80 }) == plain)
        #expect(try plan(400, 300, options(200, nil) { $0.isAnimated = true }) == plain)
        #expect(try plan(400, 300, options(200, nil, enlarge: true)) == plain)
    }

    @Test func `visible differences make different plans`() throws {
        let plain = try plan(400, 300, options(200, nil))
        #expect(try plan(400, 300, options(200, nil) { $0.quality = 79 }) != plain)
        #expect(try plan(400, 300, options(200, nil), format: .webp) != plain)
        let padded = try plan(400, 300, options(300, 300, .contain))
        #expect(try plan(400, 300, options(300, 300, .contain) { $0.background = .transparent }) == padded)
        let black = Color(red: 0, green: 0, blue: 0)
        #expect(try plan(400, 300, options(300, 300, .contain) { $0.background = black }) != padded)
    }

    @Test func `quality matters only if the format has one`() throws {
        let source = ImageHeader(format: .png, storedSize: PixelSize(width: 10, height: 10))
        let wish = options(nil, nil) { $0.quality = 12 }
        #expect(try make(source, wish, as: .png) == make(source, as: .png))
        #expect(try make(source, wish, as: .jpeg).quality == .fixed(12))
        // The encoder's quality for a visual quality of 12.
        #expect(
            try make(source, wish, as: .webp).quality == .fixed(ImageFormat.webp.encoderQuality(for: 12, pixels: 100)))
        #expect(try make(source, as: .jpeg).quality == .fixed(80))
    }

    @Test func `a background is opaque if the format has no alpha`() throws {
        let source = ImageHeader(
            format: .png, storedSize: PixelSize(width: 10, height: 10), bands: 4, hasAlpha: true)
        let half = options(nil, nil) { $0.background = Color(red: 0, green: 0, blue: 0, alpha: 51) }
        #expect(try make(source, as: .jpeg).background == .white)
        #expect(try make(source, half, as: .jpeg).background == Color(red: 204, green: 204, blue: 204))
        #expect(try make(source, half, as: .png).background == half.background)
        #expect(try make(source, as: .png).background == nil)
    }

    @Test func `padding of an opaque image is white or transparent`() throws {
        #expect(try plan(400, 300, options(300, 300, .contain)).background == .white)
        #expect(try plan(400, 300, options(300, 300, .contain), format: .webp).background == nil)
        #expect(try plan(400, 300, options(300, 300)).background == nil)
    }

    @Test func `all frames are preserved if source and result support them`() throws {
        let moving = options(nil, nil) { $0.isAnimated = true }
        #expect(try make(animation(frames: 3), moving, as: .webp).isAnimated)
        #expect(try make(animation(frames: 3), moving, as: .gif).isAnimated)
        #expect(try !make(animation(frames: 3), moving, as: .jpeg).isAnimated)
        #expect(try !make(animation(frames: 3), as: .gif).isAnimated)
        #expect(try make(animation(frames: 1), moving, as: .gif) == make(animation(frames: 1), as: .gif))
    }

    @Test(arguments: [(256, 256), (257, 256), (20_000, 256)])
    func `of too many frames the first are used`(frames: Int, kept: Int) throws {
        let moving = options(nil, nil) { $0.isAnimated = true }
        let source = animation(frames: frames)
        let plan = try make(source, moving, as: .gif)
        #expect(plan.isAnimated && plan.decode.frames(of: source) == kept)
        #expect(try !make(source, moving, as: .jpeg).isAnimated)
        let page = options(nil, nil) { $0.page = frames - 1 }
        #expect(try make(source, page, as: .gif).decode.frames(of: source) == 1)
        var limits = ImagingLimits()
        limits.maximumFrames = 1
        #expect(try make(source, moving, as: .gif, limits: limits) == make(source, as: .gif, limits: limits))
    }

    @Test func `a page after the last is an error`() throws {
        let third = options(nil, nil) { $0.page = 2 }
        #expect(try make(animation(frames: 3), third, as: .png).decode.page == 2)
        #expect(throws: ImagingError.noSuchPage(2, pages: 2)) { try make(animation(frames: 2), third, as: .png) }
        #expect(throws: ImagingError.noSuchPage(2, pages: 1)) { try plan(10, 10, third) }
    }

    @Test func `a source with too many pixels is rejected by its header`() throws {
        let size = PixelSize(width: 16_383, height: 16_383)
        let huge = ImageHeader(format: .webp, storedSize: size)
        #expect(throws: ImagingError.tooManyPixels(size)) { try make(huge, options(10, 10), as: .webp) }
        let line = PixelSize(width: .max, height: 1)
        #expect(throws: ImagingError.tooManyPixels(line)) {
            var limits = ImagingLimits()
            limits.maximumSourcePixels = .max
            return try make(ImageHeader(format: .png, storedSize: line), as: .png, limits: limits)
        }
        #expect(try plan(10_000, 10_000, options(10, 10)).outputSize == PixelSize(width: 10, height: 10))
    }

    @Test func `the frames of an animation count together`() throws {
        let moving = options(10, 10) { $0.isAnimated = true }
        let source = animation(frames: 50, side: 1_500)
        #expect(throws: ImagingError.tooManyPixels(source.size, frames: 50)) { try make(source, moving, as: .gif) }
        #expect(try make(source, options(10, 10), as: .gif).outputSize.width == 10)
    }

    @Test func `a result with too many pixels or too long a side is rejected`() throws {
        let large = PixelSize(width: 8_000, height: 8_000)
        #expect(throws: ImagingError.tooManyPixels(large)) { try plan(100, 100, options(8_000, 8_000, enlarge: true)) }
        let long = PixelSize(width: 16_384, height: 10)
        #expect(throws: ImagingError.sideTooLong(long, format: .webp)) {
            try plan(16_384, 10, options(nil, nil), format: .webp)
        }
        #expect(try plan(16_384, 10, options(nil, nil), format: .png).outputSize == long)
    }

    @Test(arguments: ImageFormat.written.filter(\.isSlow))
    func `formats that are slow to encode have their own limit, per frame`(format: ImageFormat) throws {
        let slow = PixelSize(width: 3_000, height: 2_001)
        let large = ImageHeader(format: .jpeg, storedSize: slow)
        #expect(throws: ImagingError.tooManyPixels(slow)) {
            try make(large, options(nil, nil), as: format, isNamed: true)
        }
        #expect(try plan(3_000, 2_000, options(nil, nil), format: format).outputSize.area == 6_000_000)
        #expect(try make(large, options(nil, nil), as: .webp).outputSize == slow)
        // The cost is never higher than for any other format.
        let source = ImageHeader(format: .png, storedSize: PixelSize(width: 20, height: 20))
        var limits = ImagingLimits()
        limits.maximumOutputPixels = 399
        #expect(throws: ImagingError.tooManyPixels(source.size)) {
            try make(source, options(nil, nil), as: format, isNamed: true, limits: limits)
        }
    }

    /// The format that `format=auto` chooses.
    private func negotiated(
        _ accepted: [ImageFormat], of source: ImageHeader, _ change: (inout RenderingOptions) -> Void = { _ in }
    ) throws -> ImageFormat {
        var options = RenderingOptions()
        options.format = .negotiated(Dictionary(uniqueKeysWithValues: accepted.map { ($0, 1_000) }))
        change(&options)
        var rules = RenderingRules()
        rules.automaticFormats = [.avif, .webp]
        rules.limits.sourceFormats = Set(ImageFormat.allCases)
        return try RenderPlan(AnyRenderRecipe(options), of: RecipeSource(header: source, rules: rules)).format
    }

    @Test func `a negotiated format that cannot hold the result is replaced by the next`() throws {
        func source(_ format: ImageFormat, _ width: Int, _ height: Int, hasAlpha: Bool = false) -> ImageHeader {
            ImageHeader(
                format: format, storedSize: PixelSize(width: width, height: height), bands: hasAlpha ? 4 : 3,
                hasAlpha: hasAlpha)
        }
        let chrome: [ImageFormat] = [.avif, .webp]
        #expect(try negotiated(chrome, of: source(.png, 400, 16_000)) == .webp)
        #expect(try negotiated(chrome, of: source(.png, 400, 17_000)) == .png)
        #expect(try negotiated(chrome, of: source(.jpeg, 400, 17_000)) == .jpeg)
        #expect(try negotiated(chrome, of: source(.png, 3_000, 2_001)) == .webp)
        #expect(try negotiated([.avif], of: source(.png, 3_000, 2_001)) == .png)
        for format in [ImageFormat.gif, .avif, .jxl, .heic] {
            #expect(try negotiated([], of: source(format, 4_000, 3_000)) == .jpeg)
            #expect(try negotiated([], of: source(format, 4_000, 3_000, hasAlpha: true)) == .png)
            #expect(try negotiated([.webp], of: source(format, 4_000, 3_000, hasAlpha: true)) == .webp)
        }
        #expect(try negotiated([], of: source(.avif, 66_000, 300)) == .png)
        #expect(try negotiated([], of: source(.gif, 4_000, 3_000)) { $0.width = 300 } == .gif)
        let moving = animation(frames: 2, side: 2_450)
        #expect(try negotiated([], of: moving) { $0.isAnimated = true } == .png)
        #expect(try negotiated([.webp], of: moving) { $0.isAnimated = true } == .webp)
    }

    @Test func `a trim uses the format of the untrimmed result`() throws {
        let source = ImageHeader(format: .png, storedSize: PixelSize(width: 400, height: 17_000))
        var options = RenderingOptions()
        options.format = .negotiated([.webp: 1_000])
        options.operations.trim = ImageOperations.Trim(tolerance: 10)
        let plan = try RenderPlan(AnyRenderRecipe(options), of: RecipeSource(header: source))
        #expect(plan.format == .png)
    }

    @Test func `each frame of an animation respects the slow format's limit, and all together the other`() throws {
        let moving = options(nil, nil) { $0.isAnimated = true }
        #expect(try make(animation(frames: 25, side: 1_000), moving, as: .gif).isAnimated)
        let long = animation(frames: 26, side: 1_000)
        #expect(throws: ImagingError.tooManyPixels(long.size, frames: 26)) { try make(long, moving, as: .gif) }
        let large = animation(frames: 2, side: 2_450)
        #expect(throws: ImagingError.tooManyPixels(large.size)) { try make(large, moving, as: .gif, isNamed: true) }
        #expect(try make(large, moving, as: .webp).isAnimated)
    }

    @Test func `a small crop of an enormous enlargement is rejected`() throws {
        #expect(throws: ImagingError.self) { try plan(60_000, 1, options(1_000, 1_000, .cover, enlarge: true)) }
    }

    @Test(arguments: [Gravity.attention, .entropy])
    func `the salient part of an enormous enlargement is not searched`(gravity: Gravity) throws {
        let thin = options(1, 16_384, .cover, enlarge: true) { $0.gravity = gravity }
        let whole = PixelSize(width: 16_384, height: 16_384)
        #expect(throws: ImagingError.tooManyPixels(whole)) { try plan(100, 100, thin) }
        #expect(try plan(100, 100, options(1, 16_384, .cover, enlarge: true)).resizedSize == whole)
        let large = options(4_900, 4_900, .cover) { $0.gravity = gravity }
        #expect(try plan(12_000, 8_000, large).resizedSize == PixelSize(width: 7_350, height: 4_900))
    }

    @Test func `only the formats of the limits are accepted`() throws {
        let source = ImageHeader(format: .avif, storedSize: PixelSize(width: 10, height: 10))
        #expect(throws: ImagingError.formatNotAccepted(.avif)) { try make(source, as: .jpeg) }
        var limits = ImagingLimits()
        limits.sourceFormats.insert(.avif)
        #expect(try make(source, as: .jpeg, limits: limits).format == .jpeg)
    }
}
