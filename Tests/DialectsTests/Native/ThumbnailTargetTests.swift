import Recipes
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

@Suite struct ThumbnailTargetTests {
    private func parse(_ query: String, accept: String? = nil) throws(APIError) -> Request {
        try ThumbnailTarget.parse("/thumbnail?" + query, accept: accept)
    }

    @Test func `a source alone has all defaults`() throws {
        let query = try parse("url=https%3A%2F%2Fexample.com%2Fa.jpg")
        #expect(query == Request(source: "https://example.com/a.jpg"))
    }

    @Test func `every parameter sets its option`() throws {
        let query = try parse(
            "url=shop:a/b.png&w=300&h=16384&fit=cover&enlarge=1&dpr=1.25&gravity=focal&fx=0.5&fy=0.125"
                + "&background=FfFaF0&format=webp&q=80&page=3&animated=0&placeholder=silver&expires=4102444800"
                + "&sig=g-tnX5_mnfIErfrWTj1_P9BwaJI8Jcjy-sS4oZgy6c8")
        var options = RenderingOptions()
        options.width = 300
        options.height = 16_384
        options.fit = .cover
        options.enlarge = true
        options.devicePixelRatio = 1_250
        options.gravity = .focal(x: 500, y: 125)
        options.background = Color(red: 0xff, green: 0xfa, blue: 0xf0)
        options.quality = 80
        options.page = 3
        let request = Request(source: "shop:a/b.png", options: options, format: .fixed(.webp))
        #expect(query.source == request.source && query.recipe == request.recipe)
        #expect(query.placeholder?.color == Color(red: 192, green: 192, blue: 192))
        #expect(query.expires == 4_102_444_800)
    }

    @Test func `tags are a list without repetitions, which every other grammar accepts as well`() throws {
        let query = try parse("url=x:y&tag=product-7,a.B_c%2Cproduct-7")
        #expect(query.tags == ["product-7", "a.B_c"])
        let plain = try parse("url=x:y")
        #expect(query.recipe == plain.recipe && query != plain)
        #expect(try ThumbnailTarget.parse(#require(ThumbnailTarget.generate(query)), accept: nil) == query)
        let long = String(repeating: "a", count: 64)
        #expect(try parse("url=x:y&tag=1,2,3,4,5,6,7,\(long)").tags.count == 8)
        for wrong in ["", ",", "a,", "a b", "a/b", "%C3%A4", long + "a", "1,2,3,4,5,6,7,8,9"] {
            let error = #expect(throws: APIError.self) { try parse("url=x:y&tag=" + wrong) }
            #expect(error?.code == "bad_parameter" && error?.parameter == "tag", "\(wrong)")
        }
        #expect(try NativeDialect().target(source: "x:y", rendition: "w=3&tag=b") == "/thumbnail?url=x%3Ay&w=3&tag=b")
    }

    @Test func `a quality may be searched for`() throws {
        let automatic = try parse("url=x:y&quality=auto&format=webp")
        #expect(automatic.options.isQualityAutomatic && automatic.options.quality == nil)
        let fitting = try parse("url=x:y&maxBytes=256&q=70")
        #expect(fitting.options.maximumBytes == 256 && fitting.options.quality == 70)
        let keeping = try parse("url=x:y&keepCopyright=1")
        #expect(keeping.options.keepsCopyright)
        #expect(try parse("url=x:y&keepCopyright=0") == parse("url=x:y"))
        #expect(try parse("url=x:y&hdr=drop") == parse("url=x:y") && parse("url=x:y&hdr=keep") != parse("url=x:y"))
        let coarse = try parse("url=x:y&format=avif&avifBitDepth=8")
        #expect(coarse.options.avifBitDepth == 8)
        for query in [automatic, fitting, keeping, coarse] {
            #expect(try ThumbnailTarget.parse(#require(ThumbnailTarget.generate(query)), accept: nil) == query)
        }
        for wrong in ["maxBytes=255", "maxBytes=1e3", "maxBytes=", "maxBytes=300&format=png", "maxBytes=300&q=auto"] {
            let error = #expect(throws: APIError.self) { try parse("url=x:y&" + wrong) }
            #expect(error?.code == "bad_parameter" && error?.parameter == "maxBytes")
        }
        for wrong in ["q=auto&format=png", "q=auto&format=gif", "q=automatic"] {
            let error = #expect(throws: APIError.self) { try parse("url=x:y&" + wrong) }
            #expect(error?.code == "bad_parameter" && error?.parameter == "q")
        }
    }

    @Test func `area, multiples and losslessness are read, and not combined with a quality`() throws {
        let read = try parse("url=x:y&area=1150000&multipleOf=28&lossless=1&format=webp")
        #expect(read.options.maximumArea == 1_150_000 && read.options.multiple == 28 && read.options.isLossless)
        #expect(try ThumbnailTarget.parse(#require(ThumbnailTarget.generate(read)), accept: nil) == read)
        #expect(try parse("url=x:y&lossless=0") == parse("url=x:y"))
        for format in ["auto", "png", "jxl"] {
            #expect(try parse("url=x:y&lossless=1&format=\(format)").options.isLossless)
        }
        let wrong = [
            ("area", "area=0"), ("area", "area=100000001"), ("multipleOf", "multipleOf=1"),
            ("multipleOf", "multipleOf=257"),
            ("lossless", "lossless=yes"), ("lossless", "lossless=1&format=jpeg"), ("lossless", "lossless=1&format=gif"),
            ("lossless", "lossless=1&format=avif"), ("q", "lossless=1&q=90"), ("q", "lossless=1&q=auto&format=webp"),
            ("q", "lossless=1&q=90&format=png"), ("maxBytes", "lossless=1&maxBytes=3000"),
        ]
        for (parameter, query) in wrong {
            let error = #expect(throws: APIError.self) { try parse("url=x:y&" + query) }
            #expect(error?.code == "bad_parameter" && error?.parameter == parameter, "\(query)")
        }
    }

    @Test func `aliases, order and spelling change nothing`() throws {
        let plain = try parse("url=http%3A%2F%2Fh%2Fa&w=30&h=20&q=50&background=ff0000")
        let other = try parse("quality=%35%30&height=20&background=RED&width=30&url=http://h/%61")
        #expect(plain == other)
    }

    @Test func `the source is decoded once and a plus is a plus`() throws {
        #expect(try parse("url=http://h/a%2520b+c%2Bd").source == "http://h/a%20b+c+d")
    }

    @Test func `a source has at most 2048 bytes`() throws {
        #expect(try parse("url=" + String(repeating: "%C3%A9", count: 1_024)).source.utf8.count == 2_048)
        let error = #expect(throws: APIError.self) { try parse("url=" + String(repeating: "a", count: 2_049)) }
        #expect(error?.code == "bad_url")
    }

    @Test func `without a format, Accept chooses it`() throws {
        let query = try parse("url=x:y&format=auto", accept: "image/webp;q=0.5, */*")
        #expect(query.format == .negotiated([.webp: 500]))
        #expect(query.isNegotiated)
        #expect(try parse("url=x:y&format=png", accept: "image/webp").format == .fixed(.png))
    }

    @Test(arguments: [
        ("", APIError.missingParameter("url")),
        ("w=300", .missingParameter("url")),
        ("url=", .badURL("The source's URL is empty.")),
        ("url", .badURL("The source's URL is empty.")),
        ("url=%zz", .badURL("The value is not percent-encoded UTF-8.")),
        ("url=http://h/%ff", .badURL("The value is not percent-encoded UTF-8.")),
        ("url=http://h/%4", .badURL("The value is not percent-encoded UTF-8.")),
        ("url=http://h/\u{e9}", .badURL("The value is not percent-encoded UTF-8.")),
        ("url=x:y&", .unknownParameter("")),
        ("url=x:y&W=3", .unknownParameter("W", nearest: "w")),
        ("url=x:y&%ff=3", .unknownParameter("%ff")),
        ("url=x:y&size=3", .unknownParameter("size")),
        ("size=3", .unknownParameter("size")),
    ])
    func `a fault of the whole request is reported`(query: String, error: APIError) {
        #expect(throws: error) { try parse(query) }
    }

    @Test(arguments: [
        ("w=1&w=1", "w"), ("w=1&width=1", "width"), ("height=1&h=2", "h"), ("q=1&quality=1", "quality"),
        ("url=x:z", "url"), ("w=0", "w"), ("w=16385", "w"), ("w=-1", "w"), ("w=+1", "w"), ("w=01", "w"), ("w=", "w"),
        ("w", "w"), ("w=1.0", "w"), ("w=1e2", "w"), ("w=%D9%A1", "w"), ("w=99999999999999999999", "w"),
        ("w=%20300", "w"), ("h=0", "h"), ("width=0", "width"),
        ("fit=crop", "fit"), ("fit=insides", "fit"), ("enlarge=true", "enlarge"), ("enlarge=", "enlarge"),
        ("dpr=0.499", "dpr"), ("dpr=8.001", "dpr"), ("dpr=1.2345", "dpr"), ("dpr=1.", "dpr"), ("dpr=.5", "dpr"),
        ("dpr=01", "dpr"), ("dpr=1,5", "dpr"), ("dpr=1.5.0", "dpr"), ("dpr=1.-5", "dpr"),
        ("gravity=north", "gravity"), ("fx=0.5", "fx"), ("fy=0.5", "fy"), ("gravity=focal&fx=1.001&fy=0", "fx"),
        ("gravity=center&fx=0.5&fy=0.5", "fx"), ("background=ffff", "background"), ("background=%23ffff", "background"),
        ("background=reddish", "background"), ("format=jpe", "format"), ("format=heic", "format"),
        ("format=", "format"),
        ("q=0", "q"), ("q=101", "q"), ("page=-1", "page"), ("page=1000000000", "page"), ("animated=2", "animated"),
        ("animated=1&page=0", "page"), ("placeholder=", "placeholder"), ("expires=never", "expires"),
        ("sig=abc", "sig"), ("sig=g-tnX5_mnfIErfrWTj1_P9BwaJI8Jcjy-sS4oZgy6c8&w=1", "sig"),
        ("sig=g-tnX5_mnfIErfrWTj1_P9BwaJI8Jcjy-sS4oZgy6c8=", "sig"),
        ("sig=g-tnX5_mnfIErfrWTj1_P9BwaJI8Jcjy-sS4oZgy6c9", "sig"), ("w=%zz", "w"),
    ])
    func `a bad value names its parameter`(query: String, parameter: String) throws {
        let error = #expect(throws: APIError.self) { try parse("url=x:y&" + query) }
        #expect(error?.code == "bad_parameter")
        #expect(error?.parameter == parameter)
    }

    @Test func `jpg is jpeg`() throws {
        #expect(try parse("url=x:y&format=jpg") == parse("url=x:y&format=jpeg"))
    }

    @Test(arguments: [
        ("fit=crop", ["inside", "outside", "cover", "contain", "fill"]), ("enlarge=yes", ["0", "1"]),
        ("flip=x", ["h", "v", "hv"]), ("format=heic", ["auto", "jpeg", "png", "webp", "gif", "avif", "jxl"]),
        (
            "gravity=north",
            [
                "center", "top", "top-right", "right", "bottom-right", "bottom", "bottom-left", "left", "top-left",
                "attention", "entropy", "face", "focal",
            ]
        ),
        (
            "watermark=x:y&watermarkPosition=entropy",
            ["center", "top", "top-right", "right", "bottom-right", "bottom", "bottom-left", "left", "top-left"]
        ),
    ])
    func `an error for a value of a closed list has the list`(query: String, allowed: [String]) {
        let error = #expect(throws: APIError.self) { try parse("url=x:y&" + query) }
        #expect(error?.code == "bad_parameter" && error?.allowed == allowed)
        for word in allowed { #expect(error?.publicMessage.contains(word) == true) }
    }

    @Test(arguments: [
        ("widht=3", "width"), ("Fit=cover", "fit"), ("trim_color=red", "trimColor"), ("qualty=1", "quality"),
    ])
    func `an error for an unknown parameter has the nearest known one`(query: String, nearest: String) {
        let error = #expect(throws: APIError.self) { try parse("url=x:y&" + query) }
        #expect(error?.code == "unknown_parameter" && error?.nearest == nearest)
        #expect(error?.publicMessage == "Unknown parameter; did you mean \(nearest)?")
    }

    @Test(arguments: [
        "url=https://h/a.jpg?a=1&b=2&w=300", "url=https://h/a.jpg?w=1&h=2&h=300", "w=1&url=https://h/a.jpg?x&w=2",
    ])
    func `a URL truncated by its own unencoded query is reported as not percent-encoded`(query: String) throws {
        let error = #expect(throws: APIError.self) { try parse(query) }
        #expect(error?.code == "bad_url" && error?.parameter == "url")
        #expect(error?.publicMessage.contains("not percent-encoded") == true)
        let other = #expect(throws: APIError.self) { try InfoDialect().request(in: RequestedTarget("/info?" + query)) }
        #expect(other?.code == "bad_url" || query.hasPrefix("w"))
    }

    @Test func `a harmless query in a URL is parsed, and other faults have their own messages`() throws {
        #expect(try parse("url=https://h/a.jpg?a=1&w=30").source == "https://h/a.jpg?a=1")
        #expect(throws: APIError.self) { try parse("url=https://h/a.jpg%3Fa=1&b=2") }
        let error = #expect(throws: APIError.self) { try parse("b=2&url=https://h/a.jpg?a=1") }
        #expect(error?.code == "unknown_parameter")
        #expect(throws: APIError.badChoice("fit", allowed: Fit.allCases.map(\.rawValue))) {
            try parse("url=https://h/a.jpg?a=1&fit=3")
        }
    }

    @Test func `a focal point needs both its coordinates`() {
        #expect(throws: APIError.missingParameter("fx")) { try parse("url=x:y&gravity=focal&fy=0") }
        #expect(throws: APIError.missingParameter("fy")) { try parse("url=x:y&gravity=focal&fx=0") }
    }

    @Test func `the ends of every range are allowed`() throws {
        #expect(try parse("url=x:y&w=1&h=16384&q=1&dpr=0.5").options.devicePixelRatio == 500)
        #expect(try parse("url=x:y&q=100&dpr=8.000").options.devicePixelRatio == 8_000)
        let focal = try parse("url=x:y&gravity=focal&fx=1.000&fy=0").options.gravity
        #expect(focal == .focal(x: 1_000, y: 0))
    }

    @Test func `writing and parsing are inverse`() throws {
        var random = SplitMix(state: 42)
        for _ in 0..<2_000 {
            let query = Self.anyQuery(&random)
            let target = try #require(ThumbnailTarget.generate(query))
            #expect(try ThumbnailTarget.parse(target, accept: nil) == query, "\(target)")
        }
    }

    private static func anyQuery(_ random: inout SplitMix) -> Request {
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
        func color() -> Color {
            let bits = UInt32.random(in: .min ... .max, using: &random)
            return Color(
                red: UInt8(bits & 255), green: UInt8(bits >> 8 & 255), blue: UInt8(bits >> 16 & 255),
                alpha: Bool.random(using: &random) ? 255 : UInt8(bits >> 24))
        }
        let gravities: [Gravity] = [
            .center, .top, .topRight, .right, .bottomRight, .bottom, .bottomLeft, .left, .topLeft, .attention,
            .entropy, .focal(x: .random(in: 0...1_000, using: &random), y: .random(in: 0...1_000, using: &random)),
        ]
        let sources = ["https://example.com/a b&c=d#e?f+g%20h", "shop:päth/☃.png", "x:\u{0}\n\"", "http://[::1]/"]
        var options = RenderingOptions()
        options.width = maybe(.random(in: 1...16_384, using: &random))
        options.height = maybe(.random(in: 1...16_384, using: &random))
        options.devicePixelRatio = .random(in: 500...8_000, using: &random)
        options.fit = Fit.allCases.randomElement(using: &random) ?? .inside
        options.enlarge = .random(using: &random)
        options.gravity = gravities.randomElement(using: &random) ?? .center
        options.background = maybe(color())
        options.quality = maybe(.random(in: 1...100, using: &random))
        options.isAnimated = .random(using: &random)
        options.page = options.isAnimated ? 0 : .random(in: 0...3, using: &random)
        if Bool.random(using: &random) {
            options.operations = OperationGrammarTests.anyOperations(&random, color: color())
            if options.isAnimated { options.operations.trim = nil }
        }
        let format = ImageFormat.written.randomElement(using: &random)
        options.format = maybe(format)?.map { .fixed($0) } ?? .negotiated([:])
        var query = Request(
            source: ExactText(sources.randomElement(using: &random) ?? "x:y"), options: options)
        query.placeholder = maybe(color()).map { Placeholder($0, in: options) }
        query.expires = maybe(.random(in: 0...999_999_999_999, using: &random))
        return query
    }
}

/// Repeatable random numbers.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }
}
