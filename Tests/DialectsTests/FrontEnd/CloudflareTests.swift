import Recipes
import Testing
import Text
import ThumbnailTypes

@testable import Dialects
@testable import ThumbnailPipeline

/// Cloudflare's options for sources of known size and format.
@Suite struct CloudflareTests {
    private static func query(
        _ options: String, source: String = "https://a.example/b.jpg", accept: String? = nil
    ) throws -> Request {
        let dialect = CloudflareDialect(at: try #require(PathPrefix("/cdn-cgi/image")), base: "site:")
        return try dialect.request(in: RequestedTarget("/cdn-cgi/image/\(options)/\(source)", accept: accept))
    }

    private static func header(
        _ width: Int = 1_080, _ height: Int = 720, _ format: ImageFormat = .jpeg, orientation: QuarterTurn = .none,
        frames: Int = 1
    ) -> ImageHeader {
        ImageHeader(
            format: format, storedSize: PixelSize(width: width, height: height), orientation: orientation,
            frames: frames, hasAlpha: format == .png)
    }

    private static func plan(
        _ options: String, accept: String? = nil, of header: ImageHeader = header()
    ) throws -> RenderPlan {
        try RenderPlan(query(options, accept: accept).recipe, of: RecipeSource(header: header))
    }

    @Test(arguments: [
        ("width=80", "80x53"), ("w=80", "80x53"), ("height=360", "540x360"), ("width=2160", "1080x720"),
        ("width=500,height=500", "500x333"), ("width=auto", "1080x720"), ("width=100,dpr=1.5", "150x100"),
        ("fit=contain,width=2160", "2160x1440"), ("fit=cover,w=500,h=500", "500x500"),
        ("fit=cover,width=360", "360x240"), ("fit=cover,width=2160", "2160x1440"),
        ("fit=crop,w=500,h=500", "500x500"), ("fit=crop,w=1296,h=1296", "1080x720"),
        ("fit=crop,w=1000,h=1000", "1000x720"), ("fit=aspect-crop,w=200,h=100", "200x100"),
        ("fit=aspect-crop,w=2000,h=2000", "720x720"), ("fit=pad,w=2000,h=2000", "2000x2000"),
        ("fit=squeeze,w=1080,h=540", "1080x540"),
        ("fit=inside,w=500,h=500", "500x333"),
        ("fit=fill,w=50,h=50", "50x50"), ("fit=outside,w=360,h=360", "540x360"),
        ("rotate=270,height=540", "360x540"), ("flip=h,rotate=90,width=360", "360x540"),
        ("trim=20%3B30%3B20%3B0,width=525", "525x340"), ("trim.left=80,trim.top=20", "1000x700"),
        ("trim.width=300,trim.height=200,width=150", "150x100"), ("trim.right=80,trim.bottom=20", "1000x700"),
        ("trim=10;10;10;10,dpr=2", "1040x680"),
    ])
    func `sizes are the service's`(options: String, expected: String) throws {
        #expect(try Self.plan(options).answerText.prefix(before: UInt8(ascii: " ")) == expected)
    }

    @Test(arguments: [
        ("w=300", "image/avif,image/webp", "jpeg 85"), ("w=300,f=auto", "image/avif,image/webp", "avif 75"),
        ("w=300,f=auto", "image/webp", "webp 83"), ("w=300,f=auto", "image/*,*/*", "jpeg 85"),
        ("w=300,f=auto", "image/avif;q=0.5,image/webp", "webp 83"), ("w=300,f=png", nil, "png 100"),
        ("w=300,f=baseline-jpeg,q=medium-low", nil, "jpeg 50"), ("w=300,f=webp,quality=mid", nil, "webp 50"),
        ("w=300,f=avif,compression=fast", nil, "jpeg 85"),
        ("w=300,f=auto,compression=fast", "image/avif,image/webp", "webp 83"),
        ("w=300,f=auto,compression=fast", "image/avif", "jpeg 85"),
        ("fit=contain,w=6000,f=auto", "image/avif,image/webp", "webp 89"),
        ("w=300,f=avif,q=60", nil, "avif 60"), ("w=300,f=auto,q=60", "image/avif", "avif 54"),
    ])
    func `a format is named, negotiated or the source's`(options: String, accept: String?, expected: String) throws {
        let answer = try Self.plan(options, accept: accept).answerText
        #expect(answer.suffix(after: UInt8(ascii: " ")) == Substring(expected))
        #expect(try Self.query(options, accept: accept).isNegotiated == options.contains("f=auto"))
    }

    @Test func `frames are preserved unless only the first one is requested`() throws {
        let moving = Self.header(64, 64, .gif, frames: 4)
        #expect(try Self.plan("width=32", of: moving).answerText.hasSuffix("animated"))
        #expect(try !Self.plan("width=32,anim=false", of: moving).answerText.hasSuffix("animated"))
        #expect(try Self.plan("trim=border,width=32", of: moving).border == nil)
        #expect(throws: ImagingError.formatNotAccepted(.tiff)) { try Self.plan("w=3", of: Self.header(9, 9, .tiff)) }
    }

    @Test func `a point has the same position in the source and in the result`() throws {
        func crop(_ gravity: String) throws -> CropStep? {
            try Self.plan("fit=cover,width=300,height=900,g=\(gravity)", of: Self.header(900, 900)).steps
                .compactMap { $0 as? CropStep }.first
        }
        #expect(try crop("0.33x0.5") == CropStep(x: 198, y: 0, size: PixelSize(width: 300, height: 900)))
        #expect(try crop("left")?.x == 0 && crop("right")?.x == 600 && crop("1x1")?.x == 600)
        #expect(try Self.plan("fit=cover,w=30,h=90,g=auto").steps.contains { $0 is InterestStep })
    }

    @Test func `colors are CSS colors`() throws {
        let red = Color(red: 255, green: 0, blue: 0)
        for text in ["red", "%23f00", "ff0000", "rgb%28255%2C0%2C0%29", "rgb%28100%25%200%25%200%25%29", "%23F00F"] {
            let plan = try Self.plan("background=\(text)", of: Self.header(40, 30, .png))
            #expect(plan.steps.compactMap { $0 as? BackgroundStep }.first?.color == red, "\(text)")
        }
        #expect(ColorGrammar.cssColor("rgba(1, 2, 3, 0.5)") == Color(red: 1, green: 2, blue: 3, alpha: 128))
        #expect(ColorGrammar.cssColor("hsl(120deg 100% 25% / 50%)") == Color(red: 0, green: 128, blue: 0, alpha: 128))
        #expect(ColorGrammar.cssColor("hsla(-240,100%,50%,1)") == Color(red: 0, green: 255, blue: 0))
        #expect(ColorGrammar.cssColor("hwb(0 20% 20%)") == Color(red: 204, green: 51, blue: 51))
        #expect(ColorGrammar.cssColor("hwb(0 100% 100%)") == Color(red: 128, green: 128, blue: 128))
        for text in ["rgb(1,2)", "rgb(1,2,x)", "rgb(1,2,3", "lab(1,2,3)", "#12345", "rgb(nan,1,2)", ""] {
            #expect(ColorGrammar.cssColor(text) == nil, "\(text)")
        }
        let bars = try Self.plan("fit=pad,w=100,h=100").steps.compactMap { $0 as? CanvasStep }.first
        #expect(bars?.color == .white)
    }

    @Test func `effects are factors, and zero means no effect`() throws {
        let steps = try Self.plan("brightness=0.5,contrast=2,gamma=0.5,saturation=0,blur=10,sharpen=2").steps
        var filters = OperationNumbers()
        (filters[.brightness], filters[.contrast], filters[.saturation]) = (50, 200, 0)
        #expect(steps.contains { $0 as? ColorStep == ColorStep(filters) })
        #expect(steps.contains { $0 as? ColorMapStep == ColorMapStep(.curves([.power(0.5)])) })
        #expect(steps.contains { $0 as? GaussianStep == GaussianStep(.blur, sigma: 500_000) })
        #expect(steps.contains { $0 as? GaussianStep == GaussianStep(.sharpen, sigma: 200_000) })
        let none = try Self.plan("brightness=0,contrast=0,gamma=0,saturation=1,blur=0,sharpen=0").steps
        #expect(none.count == 1, "nothing but a resample")
    }

    @Test func `the requested pixels of a border are preserved`() throws {
        let border = "trim=border,trim.border.color=white,trim.border.tolerance=7"
        let query = try Self.query("\(border),trim.border.keep=5,w=300")
        let (recipe, header) = (query.recipe.recipe, Self.header())
        let first = try recipe.draft(of: RecipeSource(header: header))
        #expect(first.trim == ImageOperations.Trim(tolerance: 7, color: .white))
        let box = ImageRegion(x: 100, y: 2, size: PixelSize(width: 200, height: 718), of: header.size)
        let region = try recipe.draft(of: RecipeSource(header: header, box: box)).region
        #expect(region == ImageRegion(x: 95, y: 0, size: PixelSize(width: 210, height: 720), of: header.size))
        let other = try Self.query("trim=border,trim.border.keep=6,w=300").recipe.recipe
        #expect(recipe.keyText != other.keyText)
    }

    @Test(arguments: [
        ("width=abc", APIError.badParameter("width", "Must be a whole number from 1 to 16384.")),
        ("width=80,w=80", .repeatedParameter("width")), ("widht=80", .unknownParameter("widht", nearest: "width")),
        ("fit=none,w=8", .badChoice("fit", allowed: CloudflareOptions.Fit.allCases.map(\.rawValue))),
        ("format=tiff", .unsupportedOption("format", "Alula does not write TIFF.")),
        ("segment=foreground", .unsupportedOption("segment", "Alula does not support it.")),
        ("border.width=3", .unsupportedOption("border.width", "Alula does not support it.")),
        ("rotate=45", .badChoice("rotate", allowed: ["90", "180", "270"])),
        ("onerror=ignore", .badChoice("onerror", allowed: ["redirect"])),
        ("width", .badParameter("options", "Must be name=value, separated by commas.")),
        ("width=%ff", .badParameter("width", "The value is not percent-encoded UTF-8.")),
    ])
    func `the first fault is reported`(options: String, error: APIError) throws {
        #expect(throws: error) { try Self.query(options) }
    }

    @Test(arguments: [
        "width=0", "quality=0", "quality=101", "dpr=0", "dpr=nan", "blur=251", "sharpen=11", "brightness=-1",
        "gravity=2x0", "gravity=0.5", "gravity=0.5x0.5x0.5", "trim=1;2;3", "trim=1;2;3;x", "background=nothing",
        "zoom=2", "scq=101", "anim=1", "metadata=all", "f=gif", "width=80,", ",",
    ])
    func `invalid options are rejected`(options: String) throws {
        #expect(throws: APIError.self) { try Self.query(options) }
        #expect(throws: APIError.self) { try Self.query("width=8", source: "") }
    }

    @Test(arguments: [
        ("width=540,format=json", #"{"width":540,"height":360,"#), ("f=json", #"{"width":1080,"height":720,"#),
        ("f=json,w=99,h=50,fit=cover", #"{"width":99,"height":50,"#),
    ])
    func `facts describe the image that the other options make`(options: String, start: String) throws {
        let query = try Self.query(options, accept: "image/avif")
        #expect(query.form.facts == FactsRequest() && !query.isNegotiated)
        let written = query.form.factsWriter?.response(about: SourceFacts(header: Self.header(), byteCount: 1_234))
        let original = #""original":{"file_size":1234,"width":1080,"height":720,"format":"image/jpeg"}}"#
        #expect(written?.mediaType == "application/json" && written?.text == start + original)
    }

    @Test func `a trim that leaves nothing is rejected`() throws {
        for options in ["trim=400;0;400;0", "trim.left=1080", "trim.top=720,trim.height=3"] {
            #expect(throws: ImagingError.cropOutside(PixelSize(width: 1_080, height: 720))) { try Self.plan(options) }
        }
    }

    @Test func `sources are absolute, or paths with the request's query`() throws {
        func source(_ text: String) throws -> ExactText { try Self.query("w=9", source: text).source }
        #expect(try source("https://a.example/b%20c.jpg?d=%26") == "https://a.example/b%20c.jpg?d=%26")
        #expect(try source("https%3A%2F%2Fa.example%2Fb.jpg%3Fv%3D1") == "https://a.example/b.jpg?v=1")
        #expect(try source("a/b%20c.jpg?d=%26") == "site:a/b c.jpg?d=%26")
        #expect(try source("/a.jpg") == "site:a.jpg")
        for text in ["//evil.example/a", "%2F%2Fevil.example", "%5C%5Cevil.example", "ftp://a/b", "https:/a/b", "%ff"] {
            #expect(throws: APIError.self, "\(text)") { try source(text) }
        }
        for text in ["cdn-cgi/image/width=600/a.jpg", "/cdn-cgi%2Fimage/width=600/a.jpg"] {
            #expect(throws: APIError.badURL("The source is below this endpoint's own prefix.")) { try source(text) }
        }
    }

    @Test func `failures redirect to absolute sources on request, and hints are ignored`() throws {
        let query = try Self.query("onerror=redirect,w=9,scq=low,g=face,face-zoom=0.5,upscale=generate")
        #expect(query.form.fallback == .named("https://a.example/b.jpg", asTarget: nil))
        #expect(query.ignoredOptions == ["slow-connection-quality=low", "upscale=generate"])
        #expect(try Self.query("w=9,g=left,zoom=0.5").ignoredOptions == ["zoom=0.5"])
        #expect(try Self.query("onerror=redirect,w=9", source: "a.jpg").form.fallback == nil)
        #expect(try Self.query("w=9").form.maximumAge == nil)
    }
}
