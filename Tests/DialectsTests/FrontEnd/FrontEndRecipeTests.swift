import HTTPTypes
import Testing
import Text
import ThumbnailTypes

@testable import Dialects
@testable import Imaging
@testable import Recipes
@testable import ThumbnailPipeline

/// Sizes and formats of front-end frameworks for sources of known size and format.
@Suite struct FrontEndRecipeTests {
    static let base: SourceBase = "site:"
    private static let photo = "url=https%3A%2F%2Fa.example%2Fb.jpg"

    static func dialect(_ name: String) throws -> any Dialect {
        switch name {
        case "next": NextDialect(.next, at: try #require(PathPrefix("/_next/image")), configuration: .next, base: base)
        case "vercel":
            NextDialect(.vercel, at: try #require(PathPrefix("/_vercel/image")), configuration: .vercel, base: base)
        case "netlify": NetlifyDialect(at: try #require(PathPrefix("/.netlify/images")), base: base)
        default: AstroDialect(at: try #require(PathPrefix("/_image")), base: base)
        }
    }

    /// Size, format and quality of a target's result, such as `300x200 webp 47`.
    private static func answer(_ target: String, accept: String?, of header: ImageHeader) throws -> String {
        let path = String(target.prefix(before: UInt8(ascii: "?")))
        let names = ["/_next/image": "next", "/_vercel/image": "vercel", "/.netlify/images": "netlify"]
        let query = try dialect(names[path] ?? "astro").request(in: RequestedTarget(target, accept: accept))
        return try RenderPlan(query.recipe, of: RecipeSource(header: header)).answerText
    }

    private static func header(
        _ width: Int = 1_200, _ height: Int = 800, _ format: ImageFormat = .jpeg, frames: Int = 1,
        hasAlpha: Bool = false
    ) -> ImageHeader {
        ImageHeader(
            format: format, storedSize: PixelSize(width: width, height: height), frames: frames, hasAlpha: hasAlpha)
    }

    @Test(arguments: [
        ("w=32&q=75", "image/webp", "32x21 webp 71"), ("w=256&q=75", "image/webp", "256x171 webp 72"),
        ("w=0640&q=75", "image/webp", "640x427 webp 77"), ("w=1920&q=75", "image/webp", "1200x800 webp 82"),
        ("w=640&q=75&dpl=abc", "*/*", "640x427 jpeg 75"),
        ("q=75&w=640", "image/avif,image/webp,image/*,*/*;q=0.8", "640x427 webp 77"),
        ("w=640&q=75", nil, "640x427 jpeg 75"),
    ])
    func `Next makes a width of its list, and WebP if Accept names it`(
        query: String, accept: String?, expected: String
    ) throws {
        let target = "/_next/image?\(Self.photo)&\(query)"
        #expect(try Self.answer(target, accept: accept, of: Self.header()) == expected)
    }

    @Test func `Next preserves animations, and replaces formats that clients do not name`() throws {
        let target = "/_next/image?\(Self.photo)&w=32&q=75"
        let moving = Self.header(64, 64, .gif, frames: 4)
        #expect(try Self.answer(target, accept: "image/webp", of: moving).hasPrefix("64x64 gif"))
        #expect(try Self.answer(target, accept: "image/webp", of: moving).hasSuffix("animated"))
        #expect(try Self.answer(target, accept: "image/png", of: Self.header(64, 64, .webp)) == "32x32 jpeg 75")
        #expect(
            try Self.answer(target, accept: nil, of: Self.header(64, 64, .webp, hasAlpha: true)).hasPrefix("32x32 png"))
        #expect(try Self.answer(target, accept: nil, of: Self.header(64, 64, .png)).hasPrefix("32x32 png"))
        #expect(throws: ImagingError.formatNotAccepted(.svg)) { try Self.format(ofDrawing: target, "next") }
    }

    /// The output format for a drawing if drawings are enabled.
    private static func format(ofDrawing target: String, _ name: String) throws -> ImageFormat {
        let query = try dialect(name).request(in: RequestedTarget(target))
        return try query.recipe.recipe.draft(of: RecipeSource(header: header(300, 150, .svg))).format
    }

    @Test(arguments: [
        ("/_next/image?w=640&q=75", APIError.missingParameter("url")),
        ("/_next/image?url=%2Fa.jpg&w=&q=75", .missingParameter("w")),
        ("/_next/image?url=%2Fa.jpg&w=640", .missingParameter("q")),
        ("/_next/image?url=%2Fa.jpg&w=640&q=75&q=75", .repeatedParameter("q")),
        ("/_next/image?url=%2Fa.jpg&w=640&q=80", .badChoice("q", allowed: ["75"])),
        ("/_next/image/x?url=%2Fa.jpg&w=640&q=75", .noSuchRoute),
        ("/.netlify/images?url=a.jpg&fm=tiff", .unsupportedOption("fm", "Alula does not write TIFF.")),
        (
            "/.netlify/images?url=a.jpg&fm=foo",
            .badChoice("fm", allowed: ["avif", "gif", "jpeg", "jpg", "png", "webp"])
        ),
        ("/.netlify/images?url=a.jpg&fit=crop", .badChoice("fit", allowed: ["contain", "cover", "fill"])),
        ("/_image?w=300", .missingParameter("href")),
    ])
    func `the first fault is reported`(target: String, error: APIError) throws {
        #expect(throws: error) { try Self.answer(target, accept: nil, of: Self.header()) }
    }

    @Test(arguments: [
        "/_next/image?url=%2Fa.jpg&w=3&q=75", "/_next/image?url=%2Fa.jpg&w=-100&q=75",
        "/_next/image?url=%2Fa.jpg&w=99.9&q=75", "/_next/image?url=%2Fa.jpg&w=%2B640&q=75",
        "/_next/image?url=%2Fa.jpg&w=640&q=0", "/_next/image?url=%2Fa.jpg%3Fv%3D1&w=640&q=75",
        "/_next/image?url=%2F_next%2Fimage%3Furl%3Dx&w=640&q=75", "/_vercel/image?url=%2Fa.jpg&w=16&q=75",
        "/.netlify/images?url=a.jpg&w=abc", "/.netlify/images?url=a.jpg&q=101", "/.netlify/images?url=a.jpg&w=0",
        "/.netlify/images?url=a.jpg&position=foo", "/.netlify/images?url=%2F.netlify%2Fimages%3Furl%3Da.jpg",
        "/_next/image?url=%2F_next%2Fimage&w=640&q=75", "/_next/image?url=%2F%255Fnext%252Fimage&w=640&q=75",
        "/_image?href=/_image%3Fhref%3D/a.jpg", "/_image?href=/a.jpg&f=jpg&q=101",
        "/_image?href=%2F%255Fimage%3Fx%20y",
        "/_image?href=/a.jpg&f=svg", "/_image?href=/a.jpg&f=xyz", "/_image?href=/a.jpg&w=-3",
        "/_image?href=/a.jpg&w=99999999", "/_image?href=/a.jpg&w=3&h=3&position=foo",
    ])
    func `targets that the original services reject are rejected`(target: String) throws {
        #expect(throws: APIError.self) { try Self.answer(target, accept: nil, of: Self.header()) }
    }

    @Test(arguments: ["next", "vercel", "netlify", "astro"])
    func `sources are absolute, or paths of the operator's origin`(name: String) throws {
        func source(_ text: String) throws -> ExactText {
            let prefix = ["next": "/_next/image", "vercel": "/_vercel/image", "netlify": "/.netlify/images"][name]
            let text = URLEscape.encode(text)
            return try Self.dialect(name).request(
                in: RequestedTarget("\(prefix ?? "/_image")?url=\(text)&href=\(text)&w=640&q=75")
            ).source
        }
        #expect(try source("/a/b.jpg") == "site:a/b.jpg")
        #expect(try source("HTTPS://a.example/b") == "HTTPS://a.example/b")
        for text in ["//evil.example/a", "\\\\evil.example\\a", "/\\evil.example", "ftp://a/b", "shop:a", "data:,x"] {
            #expect(throws: APIError.self, "\(text)") { try source(text) }
        }
        if name == "vercel" || name == "netlify" {
            #expect(try source("a/b.jpg?v=1") == "site:a/b.jpg?v=1")
        } else {
            #expect(throws: APIError.self) { try source("a/b.jpg") }
        }
    }

    @Test func `without an origin for paths, a path is not a source`() throws {
        let dialect = AstroDialect(at: try #require(PathPrefix("/_image")), base: nil)
        #expect(throws: APIError.self) { try dialect.request(in: RequestedTarget("/_image?href=/a.jpg")) }
    }

    @Test(arguments: [
        ("w=640&q=75", "image/avif,image/webp", "640x427 avif 65"), ("w=640&q=1", "image/webp", "640x427 webp 1"),
        ("w=2048&q=75", nil, "1200x800 jpeg 75"),
    ])
    func `Vercel has its own list, and all qualities`(query: String, accept: String?, expected: String) throws {
        let target = "/_vercel/image?\(Self.photo)&\(query)"
        #expect(try Self.answer(target, accept: accept, of: Self.header()) == expected)
        let still = Self.header(120, 90, .gif)
        #expect(try Self.answer(target, accept: "image/webp", of: still).hasPrefix("120x90 gif"))
    }

    @Test(arguments: [
        ("w=300", nil, "300x200 jpeg 75"), ("h=100", nil, "150x100 jpeg 75"), ("height=100", nil, "150x100 jpeg 75"),
        ("w=300&h=300&fit=contain", nil, "300x200 jpeg 75"), ("w=300&h=300", nil, "300x200 jpeg 75"),
        ("w=800&h=600&fit=cover", nil, "800x600 jpeg 75"), ("w=300&fit=cover", nil, "300x200 jpeg 75"),
        ("w=300&h=300&fit=fill", nil, "300x300 jpeg 75"), ("fm=avif&w=300", "image/webp", "300x200 avif 63"),
        ("fm=avif&w=300&q=75", "image/webp", "300x200 avif 75"),
        ("w=300", "image/avif,image/webp", "300x200 webp 73"), ("w=300", "image/avif", "300x200 avif 63"),
        ("w=2400&h=2400", nil, "1200x800 jpeg 75"), ("q=1&fm=jpg", nil, "1200x800 jpeg 1"),
    ])
    func `Netlify fits into a box, covers it or fills it`(query: String, accept: String?, expected: String) throws {
        let target = "/.netlify/images?\(Self.photo)&\(query)"
        #expect(try Self.answer(target, accept: accept, of: Self.header()) == expected)
    }

    @Test(arguments: [
        ("", "1200x800 webp"), ("w=320&f=jpg", "320x213 jpeg"), ("w=2400", "1200x800 webp"),
        ("w=300.9&f=png", "300x200 png"), ("w=0", "1200x800 webp"), ("h=abc&w=300px", "300x200 webp"),
        ("w=200&h=100", "200x100 webp"), ("w=1000&h=2000", "1000x800 webp"),
        ("w=300&h=300&fit=contain", "300x200 webp"),
        ("w=300&h=300&fit=outside", "450x300 webp"), ("w=300&h=300&fit=none", "450x300 webp"),
        ("w=300&h=300&fit=fill", "300x300 webp"), ("w=300&h=300&fit=foo", "300x200 webp"),
        ("w=200&position=foo", "200x133 webp"), ("w=300&q=low", "300x200 webp 17"), ("w=300&q=100", "300x200 webp 100"),
        ("w=200&h=200&position=right%20top", "200x200 webp"), ("w=200&h=200&position=right+top", "200x200 webp"),
    ])
    func `Astro makes WebP, and clips each side by itself`(query: String, expected: String) throws {
        let target = "/_image?href=https%3A%2F%2Fa.example%2Fb.jpg&\(query)"
        #expect(try Self.answer(target, accept: "image/avif", of: Self.header()).hasPrefix(expected))
        let moving = Self.header(64, 64, .gif, frames: 4)
        #expect(
            try Self.answer("/_image?href=/a&w=32&f=gif", accept: nil, of: moving).hasPrefix("32x32 gif"))
    }

    @Test func `Astro draws drawings in its own format, and rejects other formats`() throws {
        #expect(try Self.format(ofDrawing: "/_image?href=/a.svg&w=100", "astro") == .webp)
        #expect(throws: ImagingError.formatNotAccepted(.svg)) {
            try Self.format(ofDrawing: "/_image?href=/a.svg&w=100&f=webp", "astro")
        }
    }

    @Test(arguments: ["next", "vercel", "netlify", "astro"])
    func `a plus means a blank, as in forms`(name: String) throws {
        let prefix = ["next": "/_next/image", "vercel": "/_vercel/image", "netlify": "/.netlify/images"][name]
        let target = "\(prefix ?? "/_image")?url=%2Fmy+photo%2B1.jpg&href=%2Fmy+photo%2B1.jpg&w=640&q=75"
        #expect(try Self.dialect(name).request(in: RequestedTarget(target)).source == "site:my photo+1.jpg")
    }

    @Test func `a BlurHash is a text instead of an image`() throws {
        let query = try Self.dialect("netlify").request(in: RequestedTarget("/.netlify/images?url=a.jpg&fm=blurhash"))
        #expect(query.form.facts == FactsRequest(features: [.blurHash]) && !query.isNegotiated)
        let appearance = ImageAppearance(
            SmallImage(width: 1, height: 1, pixels: [9, 99, 200, 255]), features: [.blurHash], components: (4, 3))
        var facts = SourceFacts(header: Self.header(), byteCount: 9)
        #expect(query.form.factsWriter?.response(about: facts) == nil)
        facts.appearance = appearance
        let written = query.form.factsWriter?.response(about: facts)
        let hash = try #require(appearance.blurHash)
        #expect(written?.mediaType == "text/plain" && written?.text == hash)
    }

    @Test func `the origin's client errors keep their status`() throws {
        func status(_ upstream: Int, code: ErrorCode = .originError) throws -> Int {
            let error = StubFailure(code: code, upstreamStatus: upstream)
            let problem = Problem(error, requestID: "r", common: [:])
            return try Self.dialect("next").response(to: problem).status.code
        }
        #expect(try (status(403), status(410), status(500)) == (403, 410, 502))
        #expect(try status(403, code: .originTimeout) == 502)
    }

    @Test func `a color is drawn behind transparent pixels`() throws {
        let query = try Self.dialect("astro").request(in: RequestedTarget("/_image?href=/a&f=jpg&background=%23f00"))
        let plan = try RenderPlan(
            query.recipe, of: RecipeSource(header: Self.header(40, 30, .png, hasAlpha: true)))
        #expect(plan.steps.contains { $0 is BackgroundStep }, "\(plan.summary)")
        #expect(query.form.maximumAge == 31_536_000)
    }

    @Test(arguments: [
        ("next", "/_next/image?w=640&q=75&url=%2Fonly%2520sp.jpg", "site:only sp.jpg"),
        ("vercel", "/_vercel/image?w=640&q=75&url=%2Fa%2523b%253Fc.jpg", "site:a%23b%3Fc.jpg"),
        ("netlify", "/.netlify/images?w=64&url=%2F%25C3%25BC%252Bb.jpg%3Fx=%2520", "site:ü%2Bb.jpg?x=%20"),
        ("netlify", "/.netlify/images?w=64&url=%2Fa%20b%252Fc%255C%2500.jpg", "site:a b%2Fc%5C%00.jpg"),
        ("astro", "/_image?href=%2Fa%2525.jpg", "site:a%25.jpg"),
        ("next", "/_next/image?w=640&q=75&url=https%3A%2F%2Fh%2Fa%20b", "https://h/a b"),
    ])
    func `a path names a file as well as a part of a URL`(name: String, target: String, source: ExactText) throws {
        #expect(try Self.dialect(name).request(in: RequestedTarget(target)).source == source)
    }

    @Test(arguments: [
        ("only%20sp.jpg", "site:only sp.jpg"), ("a:b.jpg", "site:a:b.jpg"),
        ("/a%3Fb%23c%2525.jpg", "site:a%3Fb%23c%2525.jpg"),
        ("a%3Ab%2Fc.jpg", "site:a:b/c.jpg"), ("https%3A%2F%2Fh%2Fa%20b%3Fx", "https://h/a b?x"),
    ])
    func `a path in a path keeps its question and number signs`(text: String, source: ExactText) throws {
        let cloudflare = CloudflareDialect(at: try #require(PathPrefix("/cdn-cgi/image")), base: Self.base)
        let ipx = IPXDialect(at: try #require(PathPrefix("/_ipx")), base: Self.base)
        #expect(try cloudflare.request(in: RequestedTarget("/cdn-cgi/image/w=30/\(text)")).source == source)
        let expected = source == "https://h/a b?x" ? "https://h/a%20b?x" : source
        #expect(try ipx.request(in: RequestedTarget("/_ipx/w_30/\(text)")).source == expected)
        #expect(throws: APIError.self) { try ipx.request(in: RequestedTarget("/_ipx/w_30/ftp://h/a.jpg")) }
    }

    @Test func `Alula's own sources may be paths, too`() throws {
        var vocabulary = Vocabulary()
        vocabulary.baseOrigin = "site:"
        func source(_ text: String) throws -> ExactText {
            try ThumbnailTarget.parse("/thumbnail?url=\(text)", accept: nil, vocabulary: vocabulary).source
        }
        #expect(try source("/a/b.jpg") == "site:a/b.jpg")
        #expect(try source("//a/b.jpg") == "//a/b.jpg")
        #expect(try source("https://a/b.jpg") == "https://a/b.jpg")
        let facts = InfoDialect(vocabulary: vocabulary)
        #expect(try facts.request(in: RequestedTarget("/info?url=/a")).source == "site:a")
    }
}

private struct StubFailure: ServiceError {
    let code: ErrorCode
    let upstreamStatus: Int?

    var response: ErrorResponse {
        ErrorResponse(
            .badGateway, code: code, category: .origin, message: "No image came.", upstreamStatus: upstreamStatus)
    }
}

extension RenderPlan {
    /// Size, format and quality of the result, such as `300x200 webp 80`.
    var answerText: String {
        guard case .fixed(let quality) = quality else { return "no quality" }
        let size = outputSize
        return "\(size.width)x\(size.height) \(format.rawValue) \(quality)" + (isAnimated ? " animated" : "")
    }
}
