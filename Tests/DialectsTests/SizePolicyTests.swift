import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// The sizes and qualities that unsigned requests may use, in all grammars.
@Suite struct SizePolicyTests {
    private static func policy(
        _ rule: SizePolicy.Rule, sizes: [Int] = [640, 320, 960], qualities: [Int] = []
    ) -> SizePolicy {
        var policy = SizePolicy()
        policy.sizes = sizes
        policy.qualities = qualities
        policy.rule = rule
        return policy
    }

    private static func dialect(_ target: String, _ sizes: SizePolicy) throws -> any Dialect {
        switch target.dropFirst().prefix(before: UInt8(ascii: "/")).prefix(before: UInt8(ascii: "?")) {
        case "i":
            var configuration = ImgproxyConfiguration()
            configuration.prefix = PathPrefix("/i")
            var vocabulary = Vocabulary()
            vocabulary.dialectPresets["own"] = "w:333/q:33"
            vocabulary.dialectPresets["raw"] = "raw:1"
            return try #require(ImgproxyDialect(configuration, vocabulary: vocabulary))
        case "t":
            var configuration = ThumborConfiguration()
            configuration.prefix = PathPrefix("/t")
            return try #require(ThumborDialect(configuration))
        case "w": return WsrvDialect(at: try #require(PathPrefix("/w")))
        case "next":
            let lists = NextConfiguration(widths: nil, qualities: nil, formats: [.webp])
            return NextDialect(.next, at: try #require(PathPrefix("/next")), configuration: lists, base: nil)
        case "netlify": return NetlifyDialect(at: try #require(PathPrefix("/netlify")), base: nil)
        case "cf": return CloudflareDialect(at: try #require(PathPrefix("/cf")), base: nil)
        case "im":
            var configuration = ImaginaryConfiguration()
            configuration.prefix = PathPrefix("/im")
            return try #require(ImaginaryDialect(configuration))
        case "astro": return AstroDialect(at: try #require(PathPrefix("/astro")), base: nil)
        default:
            var vocabulary = Vocabulary()
            vocabulary.sizes = sizes
            vocabulary.presets["own"] = [("w", "333"), ("q", "33")]
            vocabulary.presets["sharp"] = [("sharpen", "1")]
            return NativeDialect(vocabulary: vocabulary)
        }
    }

    private static func query(_ target: String, _ sizes: SizePolicy) throws -> Request {
        try ClientPolicy(sizes).request(in: RequestedTarget(target), of: dialect(target, sizes))
    }

    /// The plan of a target, which determines its cache key.
    private static func plan(_ target: String, _ sizes: SizePolicy) throws -> RenderPlan {
        let header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 2_400, height: 1_600))
        return try RenderPlan(
            for: query(target, sizes), of: PerSource(header, additional: []), by: PipelineConfiguration())
    }

    /// Disallowed targets, the parameter at fault, and their allowed replacements.
    ///
    /// `URL` and `SRC` are placeholders for a source.
    static let substitutes: [(asked: String, parameter: String, allowed: String)] = [
        ("/thumbnail?URL&w=300", "w", "/thumbnail?URL&w=320"),
        ("/thumbnail?URL&w=1", "w", "/thumbnail?URL&w=320"),
        ("/thumbnail?URL&w=9000", "w", "/thumbnail?URL&w=960"),
        ("/thumbnail?URL&h=321&q=70", "h", "/thumbnail?URL&h=640&q=70"),
        ("/thumbnail?URL&w=640&h=321&fit=cover", "h", "/thumbnail?URL&w=640&h=640&fit=cover"),
        ("/thumbnail?URL", "w", "/thumbnail?URL&w=960"),
        ("/thumbnail?URL&fit=cover&crop=0,0,313,99", "w", "/thumbnail?URL&fit=cover&crop=0,0,313,99&w=960"),
        ("/thumbnail?URL&w=300&dpr=2", "w", "/thumbnail?URL&w=320&dpr=2"),
        ("/thumbnail?URL&w=300&dpr=2&pad=5", "w", "/thumbnail?URL&w=320&dpr=2&pad=5"),
        ("/thumbnail?URL&w=250&dpr=1.5", "w", "/thumbnail?URL&w=640"),
        ("/thumbnail?URL&w=250&h=200&fit=fill&dpr=2.625", "w", "/thumbnail?URL&w=960&h=640&fit=fill"),
        ("/thumbnail?URL&w=640&dpr=0.7", "w", "/thumbnail?URL&w=640"),
        ("/thumbnail?URL&preset=sharp", "w", "/thumbnail?URL&preset=sharp&w=960"),
        ("/thumbnail?URL&preset=own&w=300", "w", "/thumbnail?URL&preset=own&w=320"),
        ("/thumbnail?URL&preset=own&dpr=1.9", "w", "/thumbnail?URL&preset=own&w=640"),
        ("/thumbnail?URL&preset=own&h=300", "h", "/thumbnail?URL&preset=own&h=320"),
        ("/i/_/w:300/plain/SRC", "w", "/i/_/w:320/plain/SRC"),
        ("/i/_/rs:fill:300:200/plain/SRC", "w", "/i/_/rs:fill:320:320/plain/SRC"),
        ("/i/_/w:300/dpr:2/pd:5/plain/SRC", "w", "/i/_/w:320/dpr:2/pd:5/plain/SRC"),
        ("/i/_/w:300/dpr:1.5/plain/SRC", "w", "/i/_/w:640/plain/SRC"),
        ("/i/_/w:320/z:0.7/plain/SRC", "w", "/i/_/w:320/plain/SRC"),
        ("/i/_/w:320/mw:400/plain/SRC", "w", "/i/_/w:320/mw:640/plain/SRC"),
        ("/i/_/q:50/plain/SRC", "w", "/i/_/w:960/q:50/plain/SRC"),
        ("/i/_/w:320/raw:1/plain/SRC", "w", "/i/_/w:320/plain/SRC"),
        ("/i/_/w:320/skp:jpg/plain/SRC", "w", "/i/_/w:320/plain/SRC"),
        ("/i/_/pr:own/w:300/plain/SRC", "w", "/i/_/w:320/q:33/plain/SRC"),
        ("/i/_/pr:own/dpr:1.9/plain/SRC", "w", "/i/_/w:640/q:33/plain/SRC"),
        ("/t/unsafe/300x0/SRC", "w", "/t/unsafe/320x0/SRC"),
        ("/t/unsafe/trim/fit-in/-300x200/top/SRC", "w", "/t/unsafe/trim/fit-in/-320x320/top/SRC"),
        ("/t/unsafe/SRC", "w", "/t/unsafe/960x0/SRC"),
        ("/t/unsafe/origx320/SRC", "w", "/t/unsafe/960x320/SRC"),
        ("/t/unsafe/640x0/filters:proportion(0.6)/SRC", "w", "/t/unsafe/640x0/SRC"),
        ("/t/unsafe/320x0/filters:raw()/SRC", "w", "/t/unsafe/320x0/SRC"),
        ("/t/unsafe/debug/320x0/SRC", "w", "/t/unsafe/320x0/SRC"),
        ("/w/?URL&w=300", "w", "/w/?URL&w=320"),
        ("/w/?URL&w=320&h=99&fit=cover", "h", "/w/?URL&w=320&h=320&fit=cover"),
        ("/w/?URL&w=300&dpr=2", "w", "/w/?URL&w=640"),
        ("/w/?URL&w=50%25", "w", "/w/?URL&w=960"),
        ("/w/?URL&w=0&h=-1", "w", "/w/?URL&w=960"),
        ("/next?URL&w=333&q=75", "w", "/next?URL&w=640&q=75"),
        ("/netlify?URL&w=333", "w", "/netlify?URL&w=640"),
        ("/netlify?URL", "w", "/netlify?URL&w=960"),
        ("/astro?URL&h=333", "h", "/astro?URL&h=640"),
        ("/cf/width=333,fit=cover/SRC", "w", "/cf/width=640,fit=cover/SRC"),
        ("/cf/width=150,dpr=2/SRC", "w", "/cf/width=320/SRC"),
        ("/cf/format=webp/SRC", "w", "/cf/width=960,format=webp/SRC"),
        ("/im/resize?URL&width=333", "w", "/im/resize?URL&width=640"),
        ("/im/enlarge?URL&width=320&height=99", "h", "/im/enlarge?URL&width=320&height=320"),
        ("/im/convert?URL&type=png", "w", "/im/resize?URL&width=960&type=png"),
    ]

    private static func target(_ text: String) -> String {
        let name = text.hasPrefix("/astro") ? "href" : "url"
        return text.replacing("URL", with: "\(name)=https%3A%2F%2Fh.example%2Fa.jpg")
            .replacing("SRC", with: "https://h.example/a.jpg")
    }

    @Test(arguments: substitutes)
    func `a disallowed size is rejected with a list of the allowed ones`(
        asked: String, parameter: String, allowed: String
    ) throws {
        #expect(throws: APIError.sizeNotAllowed(parameter, allowed: [320, 640, 960])) {
            try Self.query(Self.target(asked), Self.policy(.reject))
        }
        let query = try Self.query(Self.target(allowed), Self.policy(.reject))
        #expect(try query == Self.query(Self.target(allowed), Self.policy(.reject, sizes: [])))
    }

    @Test(arguments: substitutes)
    func `up gives the result of the allowed request`(asked: String, parameter: String, allowed: String) throws {
        let (asked, allowed) = (Self.target(asked), Self.target(allowed))
        #expect(try Self.plan(asked, Self.policy(.up)) == Self.plan(allowed, SizePolicy()))
        #expect(try Self.plan(asked, Self.policy(.up)).keyTexts == Self.plan(allowed, SizePolicy()).keyTexts)
    }

    @Test(arguments: [
        ("/thumbnail?URL&w=320&q=77", "/thumbnail?URL&w=320&q=80"),
        ("/i/_/w:320/q:77/plain/SRC", "/i/_/w:320/q:80/plain/SRC"),
        ("/i/_/w:320/fq:jpg:77/plain/SRC", "/i/_/w:320/fq:jpg:80/plain/SRC"),
        ("/t/unsafe/320x0/filters:quality(77)/SRC", "/t/unsafe/320x0/filters:quality(80)/SRC"),
        ("/w/?URL&w=320&q=77", "/w/?URL&w=320&q=80"), ("/next?URL&w=320&q=77", "/next?URL&w=320&q=80"),
        ("/netlify?URL&w=320&q=77", "/netlify?URL&w=320&q=80"), ("/astro?URL&w=320&q=77", "/astro?URL&w=320&q=80"),
        ("/astro?URL&w=320&q=max", "/astro?URL&w=320&q=80"),
    ])
    func `a disallowed quality is rejected, or the next one up is used`(asked: String, allowed: String) throws {
        let (asked, allowed) = (Self.target(asked), Self.target(allowed))
        #expect(throws: APIError.sizeNotAllowed("q", allowed: [50, 80])) {
            try Self.query(asked, Self.policy(.reject, sizes: [], qualities: [80, 50]))
        }
        let plan = try Self.plan(asked, Self.policy(.up, sizes: [], qualities: [80, 50]))
        #expect(try plan == Self.plan(allowed, SizePolicy()))
        _ = try Self.query(allowed, Self.policy(.reject, qualities: [80, 50]))
    }

    @Test(arguments: [
        "/thumbnail?URL&w=320", "/thumbnail?URL&w=320&q=auto", "/thumbnail?URL&preset=own",
        "/thumbnail?URL&preset=own&h=320", "/thumbnail?URL&h=640&w=320&format=avif", "/thumbnail?URL&w=213&dpr=1.5",
        "/i/_/pr:own/plain/SRC", "/i/_/pr:raw/plain/SRC", "/i/_/w:160/dpr:2/plain/SRC", "/i/_/w:160/z:2/plain/SRC",
        "/t/unsafe/640x640/filters:proportion(0.5)/SRC",
        "/w/?URL&w=160&dpr=2", "/netlify?URL&w=320", "/astro?URL&w=320", "/next?URL&w=320&q=80",
    ])
    func `allowed sizes and those of presets are unchanged`(target: String) throws {
        let target = Self.target(target)
        for rule in SizePolicy.Rule.allCases {
            let policy = Self.policy(rule, qualities: [50, 80])
            #expect(try Self.plan(target, policy) == Self.plan(target, SizePolicy()))
        }
    }

    @Test func `the key of a recipe includes the box that the policy left of a target`() throws {
        func key(_ target: String, _ rule: SizePolicy.Rule, sizes: [Int]) throws -> String {
            try Self.query(Self.target(target), Self.policy(rule, sizes: sizes)).recipe.recipe.keyText
        }
        // Cloudflare's cache key has the text of the options, with the requested width.
        let keys = try [320, 640].map { try key("/cf/width=300,fit=cover/SRC", .up, sizes: [$0]) }
        #expect(keys[0].hasSuffix("320x0 []") && keys[1].hasSuffix("640x0 []"))
        #expect(try key("/cf/width=300,fit=cover/SRC", .up, sizes: []).hasSuffix("300x0 []"))
    }

    @Test func `each requested side stays in whole CSS pixels`() throws {
        for ratio in 500...8_000 where ratio.isMultiple(of: 7) {
            var options = RenderingOptions()
            (options.width, options.height, options.devicePixelRatio) = (100, 77, ratio)
            let bounded = try options.allowed(by: Self.policy(.up), choices: .all)
            let box = bounded.box
            #expect([320, 640, 960].contains(box.width) && [320, 640, 960].contains(box.height), "\(ratio)")
            #expect(bounded.devicePixelRatio <= max(ratio, 1_000))
            #expect(try bounded.allowed(by: Self.policy(.reject), choices: .all) == bounded)
        }
    }

    @Test func `a placeholder has the size of the allowed request`() throws {
        let target = Self.target("/thumbnail?URL&w=300&h=200&fit=cover&placeholder=red")
        let size = try Self.query(target, Self.policy(.up)).placeholder?.size
        #expect(size == PixelSize(width: 320, height: 320))
    }

    @Test func `signed targets of any grammar are unrestricted`() throws {
        var vocabulary = Vocabulary()
        vocabulary.sizes = Self.policy(.reject)
        let key = [UInt8](repeating: 7, count: 32)
        let native = NativeDialect(signingKeys: [key], vocabulary: vocabulary)
        let target = URLSigner.sign(target: Self.target("/thumbnail?URL&w=333"), key: key)
        let policy = ClientPolicy(Self.policy(.reject))
        #expect(try policy.request(in: RequestedTarget(target), of: native).nativeOptions?.width == 333)

        var configuration = ThumborConfiguration()
        (configuration.prefix, configuration.key, configuration.servesUnsafe) = (PathPrefix("/t"), key, true)
        let thumbor = try #require(ThumborDialect(configuration))
        _ = try policy.request(in: RequestedTarget("/t/AAAAAAAAAAAAAAAAAAAAAAAAAAA=/333x0/h/a.jpg"), of: thumbor)
        #expect(throws: APIError.self) {
            try policy.request(in: RequestedTarget("/t/unsafe/333x0/h/a.jpg"), of: thumbor)
        }
        var imgproxy = ImgproxyConfiguration()
        (imgproxy.prefix, imgproxy.keys, imgproxy.salts) = (PathPrefix("/i"), [key], [key])
        let signed = try #require(ImgproxyDialect(imgproxy))
        _ = try policy.request(in: RequestedTarget("/i/sig/w:333/plain/https://h/a.jpg"), of: signed)
    }

    @Test func `a grammar without bounded sizes is closed`() {
        struct Free: RenderRecipe {
            let keyText = ""
            func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
                RenderDraft(size: source.header.page(0).size, format: .png, quality: .fixed(1))
            }
        }
        let query = Request(source: "x:y", recipe: Free(), isNegotiated: false)
        let policy = ClientPolicy(Self.policy(.up))
        #expect(throws: APIError.self) { try policy.allowed(query, isSigned: false, hints: ClientHints()) }
        #expect(throws: Never.self) { try policy.allowed(query, isSigned: true, hints: ClientHints()) }
    }
}
