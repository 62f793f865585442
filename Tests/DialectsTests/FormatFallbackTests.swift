import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// Results that the chosen format cannot hold use the next format; a format named by the client is rejected.
@Suite struct FormatFallbackTests {
    private static let chrome = "image/avif,image/webp,*/*"

    /// A target, and the format of its result for a source of 4000×3000; nil if the target is rejected.
    struct Row: Sendable {
        let grammar: String
        let target: String
        let source: ImageFormat
        let accept: String?
        let expected: ImageFormat?

        init(
            _ grammar: String, _ target: String, _ source: ImageFormat, _ accept: String? = nil,
            _ expected: ImageFormat?
        ) {
            (self.grammar, self.target, self.source, self.accept) = (grammar, target, source, accept)
            self.expected = expected
        }
    }

    private static func dialect(_ grammar: String) throws -> any Dialect {
        func prefix(_ path: String) throws -> PathPrefix { try #require(PathPrefix(path)) }
        switch grammar {
        case "thumbor":
            var configuration = ThumborConfiguration()
            (configuration.prefix, configuration.automaticFormats) = (try prefix("/img"), [.avif, .webp])
            return try #require(ThumborDialect(configuration))
        case "imgproxy":
            return ImgproxyFixture.dialect {
                $0.defaults.negotiation = ImgproxyNegotiation(avif: .preferred, webp: .preferred)
            }
        case "wsrv": return WsrvDialect(at: try prefix("/wsrv"))
        case "cloudflare": return CloudflareDialect(at: try prefix("/cdn-cgi/image"), base: nil)
        case "ipx": return IPXDialect(at: try prefix("/_ipx"), base: nil)
        case "netlify": return NetlifyDialect(at: try prefix("/.netlify/images"), base: nil)
        case "vercel": return NextDialect(.vercel, at: try prefix("/_vercel/image"), configuration: .vercel, base: nil)
        default: return AstroDialect(at: try prefix("/_image"), base: nil)
        }
    }

    private static let url = "https%3A%2F%2Fa.example%2Fb"

    @Test(arguments: [
        Row("thumbor", "/img/unsafe/a.example/b", .jpeg, chrome, .webp),
        Row("thumbor", "/img/unsafe/a.example/b", .png, "image/avif", .png),
        Row("thumbor", "/img/unsafe/a.example/b", .gif, "*/*", .jpeg),
        Row("thumbor", "/img/unsafe/filters:format(avif)/a.example/b", .jpeg, nil, nil),
        Row("imgproxy", "/_/plain/https://a.example/b", .jpeg, chrome, .webp),
        Row("imgproxy", "/_/plain/https://a.example/b", .gif, "*/*", .jpeg),
        Row("imgproxy", "/_/f:avif/plain/https://a.example/b", .jpeg, nil, .avif),
        Row("wsrv", "/wsrv?url=\(url)", .heic, nil, .jpeg), Row("wsrv", "/wsrv?url=\(url)", .gif, nil, .jpeg),
        Row("wsrv", "/wsrv?url=\(url)&output=avif", .jpeg, nil, nil),
        Row("cloudflare", "/cdn-cgi/image/f=auto/https://a.example/b", .jpeg, chrome, .webp),
        Row("cloudflare", "/cdn-cgi/image/f=auto/https://a.example/b", .gif, "*/*", .jpeg),
        Row("cloudflare", "/cdn-cgi/image/f=avif/https://a.example/b", .jpeg, nil, .jpeg),
        Row("ipx", "/_ipx/f_auto/https://a.example/b", .jpeg, "image/avif", .jpeg),
        Row("ipx", "/_ipx/f_avif/https://a.example/b", .jpeg, nil, nil),
        Row("netlify", "/.netlify/images?url=\(url)", .jpeg, "image/avif", .jpeg),
        Row("netlify", "/.netlify/images?url=\(url)&fm=avif", .jpeg, nil, nil),
        Row("vercel", "/_vercel/image?url=\(url)&w=3840&q=75", .jpeg, "image/avif", .jpeg),
        Row("astro", "/_image?href=\(url)&f=avif", .jpeg, nil, nil),
    ])
    func `a chosen format may be replaced, a named one may not`(row: Row) throws {
        let header = ImageHeader(format: row.source, storedSize: PixelSize(4_000, 3_000))
        let query = try Self.dialect(row.grammar).request(in: RequestedTarget(row.target, accept: row.accept))
        var rules = RenderingRules()
        rules.limits.sourceFormats = Set(ImageFormat.allCases)
        let source = RecipeSource(header: header, rules: rules)
        guard let expected = row.expected else {
            #expect(throws: ImagingError.tooManyPixels(header.size)) {
                try RenderPlan(query.recipe, of: source)
            }
            return
        }
        #expect(try RenderPlan(query.recipe, of: source).format == expected)
    }

    @Test func `imgproxy's grammar scales a result down for the format in the target`() throws {
        func size(_ options: String, _ width: Int, _ height: Int) throws -> PixelSize {
            let header = ImageHeader.still(.jpeg, width, height)
            let recipe = AnyRenderRecipe(try ImgproxyFixture.recipe(options))
            return try RenderPlan(recipe, of: RecipeSource(header: header)).outputSize
        }
        #expect(try size("f:webp", 400, 20_000) == PixelSize(327, 16_383))
        #expect(try size("f:avif", 4_000, 3_000) == PixelSize(2_828, 2_121))
        #expect(try size("f:avif", 2_000, 3_000) == PixelSize(2_000, 3_000))
        #expect(throws: ImagingError.self) { try size("f:webp/s:6000:6000/rt:force/el:1", 400, 400) }
    }
}
