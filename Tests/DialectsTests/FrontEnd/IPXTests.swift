import Recipes
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// IPX's modifiers for sources of known size and format.
@Suite struct IPXTests {
    private static func query(
        _ modifiers: String, source: String = "https://a.example/b.jpg", accept: String? = nil
    ) throws -> Request {
        let dialect = IPXDialect(at: try #require(PathPrefix("/_ipx")), base: "site:")
        return try dialect.request(in: RequestedTarget("/_ipx/\(modifiers)/\(source)", accept: accept))
    }

    private static func header(
        _ width: Int = 1_200, _ height: Int = 800, _ format: ImageFormat = .jpeg, orientation: QuarterTurn = .none,
        frames: Int = 1
    ) -> ImageHeader {
        ImageHeader(
            format: format, storedSize: PixelSize(width: width, height: height), orientation: orientation,
            frames: frames, hasAlpha: format == .png)
    }

    private static func plan(
        _ modifiers: String, accept: String? = nil, of header: ImageHeader = header()
    ) throws -> RenderPlan {
        try RenderPlan(query(modifiers, accept: accept).recipe, of: RecipeSource(header: header))
    }

    @Test(arguments: [
        ("_", "1200x800"), ("w_300", "300x200"), ("w=300", "300x200"), ("w:300", "300x200"), ("w_2400", "1200x800"),
        ("enlarge,w_2400", "2400x1600"), ("enlarge,s_20000x10", "8192x4"), ("h_100,w_600", "600x400"),
        ("height_100", "150x100"), ("s_300x300", "300x300"), ("s_300", "300x300"), ("s_2000x1000", "1200x600"),
        ("s_300x200,w_600", "600x400"), ("enlarge&s_2000x1000", "2000x1000"), ("fit_contain,s_300x300", "300x300"),
        ("fit_inside,s_300x300", "300x200"), ("fit_inside,s_2000x1000", "900x600"),
        ("fit_outside,s_600x100", "600x400"), ("fit_fill,s_100x400", "100x400"), ("resize_100x400", "100x400"),
        ("crop_100_50_300_200,w_150", "150x100"), ("crop_100%5F50%5F300%5F200", "300x200"),
        ("s_100x50,extend_10_20_30_40", "160x90"), ("extend_10_20_30_40_mirror,w_300", "360x240"),
        ("rotate_90,w_300", "300x450"), ("rotate_-90", "800x1200"), ("rotate_90,crop_0_0_100_50", "50x100"),
        ("rotate_90,crop_0_0_100_50,w_50", "50x25"), ("rotate_45", "1414x1414"), ("w%5F300", "1200x800"),
        ("w_100,w_200", "200x133"), ("flop,flip,w_150", "150x100"), ("kernel_nearest,s_300x200", "300x200"),
    ])
    func `sizes are the service's`(modifiers: String, expected: String) throws {
        #expect(try Self.plan(modifiers).answerText.prefix(before: UInt8(ascii: " ")) == expected)
    }

    @Test(arguments: [
        ("w_600", "600x400", 8), ("autoorient,w_600", "600x900", 1), ("rotate,w_600", "600x900", 1),
        ("rotate_90,w_600", "600x900", 1), ("flop", "1200x800", 7), ("rotate_180", "1200x800", 6),
    ])
    func `EXIF counts only on request`(modifiers: String, size: String, turn: QuarterTurn) throws {
        let header = Self.header(orientation: 6)
        #expect(try Self.plan(modifiers, of: header).answerText.prefix(before: UInt8(ascii: " ")) == size)
        let recipe = try Self.query(modifiers).recipe.recipe
        #expect(try recipe.draft(of: RecipeSource(header: header)).turn == turn)
    }

    @Test func `a part refers to the image as stored`() throws {
        let recipe = try Self.query("crop_100_50_300_200").recipe.recipe
        let region = try recipe.draft(of: RecipeSource(header: Self.header(orientation: 6))).region
        let upright = PixelSize(width: 800, height: 1_200)
        #expect(region == ImageRegion(x: 550, y: 100, size: PixelSize(width: 200, height: 300), of: upright))
        #expect(throws: ImagingError.cropOutside(PixelSize(width: 1_200, height: 800))) {
            try Self.plan("crop_1000_0_300_200")
        }
    }

    @Test(arguments: [
        ("w_300", "image/avif,image/webp", "jpeg 80"), ("f_png,w_300", nil, "png 100"), ("f_avif", nil, "avif 72"),
        ("f_avif,q_50", nil, "avif 50"),
        ("format_webp,q_50", nil, "webp 50"), ("f_auto", "image/avif;q=0.5,image/webp", "webp 85"),
        ("f_auto", "image/avif,image/webp", "avif 72"), ("f_auto", "image/*,*/*", "jpeg 80"),
        ("f_auto", nil, "jpeg 80"),
        ("f_auto", "image/png", "png 100"), ("f_unknown", nil, "jpeg 80"), ("a,f_auto", "image/avif", "gif 100"),
    ])
    func `a format is named, negotiated or the source's`(modifiers: String, accept: String?, expected: String) throws {
        let answer = try Self.plan(modifiers, accept: accept).answerText
        #expect(answer.suffix(after: UInt8(ascii: " ")) == Substring(expected))
        #expect(try Self.query(modifiers, accept: accept).isNegotiated == modifiers.contains("f_auto"))
    }

    @Test func `frames are preserved in GIF, and elsewhere on request`() throws {
        let moving = Self.header(64, 64, .gif, frames: 4)
        for modifiers in ["w_32", "a,f_webp,w_32", "animated,s_32x16"] {
            #expect(try Self.plan(modifiers, of: moving).answerText.hasSuffix("animated"), "\(modifiers)")
        }
        #expect(try !Self.plan("f_webp,w_32", of: moving).answerText.hasSuffix("animated"))
        #expect(try Self.plan("trim,w_32", of: moving).border == nil)
        #expect(try Self.plan("trim_300,w_32").border?.tolerance == 255)
    }

    @Test func `bars and the background of alpha are black without a color`() throws {
        let alpha = Self.header(400, 300, .png)
        func colors(_ modifiers: String) throws -> [Color] {
            try Self.plan(modifiers, of: alpha).steps.compactMap {
                ($0 as? CanvasStep)?.color ?? ($0 as? BackgroundStep)?.color
            }
        }
        #expect(try colors("fit_contain,s_200x200") == [.black])
        #expect(try colors("b_fff,fit_contain,s_200x200") == [.white])
        #expect(try colors("flatten") == [.black] && colors("f_jpg") == [.black] && colors("w_30").isEmpty)
        #expect(try colors("b_FF000080,fit_contain,s_200x200,f_jpg").last == .black)
        let bars = try Self.plan("fit_contain,s_200x200,pos_top", of: alpha).steps.compactMap { $0 as? CanvasStep }
        #expect(bars.first?.y == 0)
    }

    @Test func `effects follow the resize, in sharp's order`() throws {
        let plan = try Self.plan(
            "tint_00ff00,normalize,sharpen_2,blur_5,median_3,grayscale,negate,threshold_9,dilate_3,erode,w_30,"
                + "gamma_2_1")
        #expect(
            plan.steps.dropFirst().map(\.keyText).map { $0.prefix(before: UInt8(ascii: " ")) } == [
                "curves", "grey", "rank", "grey", "formula", "rank", "rank", "blur", "sharpen", "curves", "normalize",
                "tint",
            ])
        let lch = try Self.plan("brightness_1.5,saturation_0.5,hue_-90,lightness_10").steps.last as? ColorMapStep
        #expect(lch == ColorMapStep(.lch(lightness: 1.5, chroma: 0.5, hue: 270, added: 10)))
        let modulated = try Self.plan("modulate_2_0.5,brightness_3,saturation_3").steps.last as? ColorMapStep
        #expect(modulated == ColorMapStep(.lch(lightness: 2, chroma: 3, hue: 0)))
        #expect(try Self.plan("gamma_2.2").steps.count == 1 && Self.plan("linear").steps.count == 2)
        #expect(try Self.plan("blur").steps.contains { $0 as? KernelStep == KernelStep(.mean) })
        #expect(try Self.plan("sharpen").steps.contains { $0 as? KernelStep == KernelStep(.sharpen) })
    }

    @Test(arguments: [
        ("position_right-top", Gravity.topRight), ("pos_southwest", .bottomLeft), ("pos_3", .bottom),
        ("pos_16", .entropy), ("pos_attention", .attention), ("pos_centre", .center),
    ])
    func `positions have names of sharp and numbers`(modifier: String, gravity: Gravity) throws {
        #expect(try IPXModifiers("\(modifier)", accept: nil).gravity == gravity)
    }

    @Test(arguments: [
        ("w", APIError.missingParameter("w")), ("brightness,w_3", .missingParameter("brightness")),
        ("extract_0_0_10", .missingParameter("extract.3")),
        ("quality_0", .badParameter("quality", "Must be a whole number from 1 to 100.")),
        ("fit_scale-down", .badChoice("fit", allowed: Fit.allCases.map(\.rawValue))),
        ("clahe_3_3", .unsupportedOption("clahe", "Alula does not support it.")),
        ("opacity_0.5", .unsupportedOption("opacity", "Alula does not support it.")),
        ("f_tiff", .unsupportedOption("f", "Alula does not write TIFF.")),
        ("median_100", .unsupportedOption("median", "Squares larger than 99 pixels are not supported.")),
        ("rotate_45,w_30", .unsupportedOption("rotate", "Whole degrees are turned, with a size quarters only.")),
    ])
    func `the first fault is reported`(modifiers: String, error: APIError) throws {
        #expect(throws: error) { try Self.query(modifiers) }
    }

    @Test(arguments: [
        "w_abc", "h_-1", "w_3x3", "s_300x", "s_3x3x3", "pos_foo", "pos_9", "b_nothing", "trim_abc", "blur_0.1", "tint",
        "extend_-1", "extend_1_1_1_1_wrap", "rotate_9999", "rotate_0.5", "kernel_foo", "threshold_256", "w_%ff",
        "gamma_4", "sharpen_11", "linear_x",
    ])
    func `invalid modifiers are rejected`(modifiers: String) throws {
        #expect(throws: APIError.self) { try Self.query(modifiers) }
    }

    @Test func `sources are decoded once, and the query of the request is ignored`() throws {
        func source(_ text: String) throws -> ExactText { try Self.query("w_9", source: text).source }
        #expect(try source("https://a.example/b%20c.jpg%3Fv=1?w=3") == "https://a.example/b%20c.jpg?v=1")
        #expect(try source("https:/a.example/b.jpg") == "https://a.example/b.jpg")
        #expect(try source("http%3A%2F%2Fa.example%2Fb.jpg") == "http://a.example/b.jpg")
        #expect(try source("a/b%20c.jpg") == "site:a/b c.jpg" && source("/a.jpg") == "site:a.jpg")
        for text in ["//evil.example/a", "%5C%5Cevil.example", "ftp://a/b", "%ff", "", "?a"] {
            #expect(throws: APIError.self, "\(text)") { try source(text) }
        }
        #expect(try Self.query("kernel_cubic,unknown_3,w_3").ignoredOptions == ["unknown_3", "kernel_cubic"])
    }
}
