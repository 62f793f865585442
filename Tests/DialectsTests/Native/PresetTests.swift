import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

struct PresetTests {
    private static let presets: [ExactText: Vocabulary.Preset] = [
        "card": [("w", "400"), ("h", "300"), ("fit", "cover")],
        "small": [("width", "100"), ("format", "webp")],
        "marked": [("watermark", "logo"), ("watermarkOpacity", "40")],
        "soft": [("watermarkOpacity", "50")],
        "focal": [("gravity", "focal"), ("fx", "0.5")],
        "plain": [("enlarge", "0"), ("animated", "0"), ("placeholder", "silver")],
    ]

    private static func vocabulary(
        standard: Vocabulary.Preset? = nil, onlyPresets: Bool = false
    ) -> Vocabulary {
        var vocabulary = Vocabulary()
        vocabulary.presets = presets
        vocabulary.presets[Vocabulary.standardPreset] = standard
        vocabulary.dialectPresets = ["foreign": "size:100:100"]
        var logo = Vocabulary.Watermark(source: "media:logo.png")
        (logo.options.position, logo.options.opacity) = (.topLeft, 30)
        vocabulary.watermarks = ["logo": logo]
        vocabulary.allowsOnlyPresets = onlyPresets
        return vocabulary
    }

    /// Parses a query whose values may come from presets.
    private func parse(
        _ query: String, _ vocabulary: Vocabulary = vocabulary()
    ) throws(APIError) -> Request {
        var query = try ThumbnailTarget.parse("/thumbnail?url=x:y" + query, accept: nil, vocabulary: vocabulary)
        query.choices = .all
        return query
    }

    @Test(arguments: [
        ("preset=card", "w=400&h=300&fit=cover"), ("preset=card&fit=fill&width=50", "w=50&h=300&fit=fill"),
        ("fit=fill&width=50&preset=card", "w=50&h=300&fit=fill"),
        ("preset=card,small", "w=100&h=300&fit=cover&format=webp"),
        ("preset=small,card", "w=400&h=300&fit=cover&format=webp"), ("preset=small&format=auto", "w=100"),
        ("preset=small&format=png", "w=100&format=png"), ("preset=small,small", "w=100&format=webp"),
        ("preset=plain", "placeholder=c0c0c0"), ("preset=focal&fy=1", "gravity=focal&fx=0.5&fy=1"),
        ("preset=marked", "watermark=logo&watermarkOpacity=40"),
        ("preset=marked,soft", "watermark=logo&watermarkOpacity=50"),
        ("preset=soft,marked", "watermark=logo&watermarkOpacity=40"),
        ("preset=marked&watermarkOpacity=7&watermark=x:z", "watermark=x:z&watermarkOpacity=7"),
        ("preset=soft&watermark=logo", "watermark=logo&watermarkOpacity=50"),
    ])
    func `later presets override earlier ones, and the request overrides all`(query: String, meaning: String) throws {
        #expect(try parse("&" + query) == parse("&" + meaning))
    }

    @Test func `the default preset precedes all others`() throws {
        let vocabulary = Self.vocabulary(standard: [("q", "50"), ("w", "10"), ("enlarge", "1")])
        #expect(try parse("", vocabulary) == parse("&q=50&w=10&enlarge=1"))
        #expect(try parse("&preset=card", vocabulary) == parse("&q=50&w=400&h=300&fit=cover&enlarge=1"))
        #expect(try parse("&w=20&enlarge=0", vocabulary) == parse("&q=50&w=20"))
        #expect(try parse("&preset=card,default", vocabulary) == parse("&q=50&w=10&h=300&fit=cover&enlarge=1"))
    }

    @Test(arguments: [
        "preset=", "preset=none", "preset=card,", "preset=,card", "preset=card,,small", "preset=card,none",
        "preset=Card", "preset=foreign", "preset=default", "preset=card%20", "preset=card&preset=small",
        "preset=logo",
    ])
    func `an unknown preset is a bad parameter`(query: String) throws {
        let error = #expect(throws: APIError.self) { try parse("&" + query) }
        #expect(error?.code == "bad_parameter" && error?.parameter == "preset")
    }

    @Test(arguments: [("preset=soft", "watermarkOpacity"), ("preset=plain&fx=1", "fx")])
    func `the whole request is validated after presets`(query: String, parameter: String) throws {
        let error = #expect(throws: APIError.self) { try parse("&" + query) }
        #expect(error?.code == "bad_parameter" && error?.parameter == parameter)
        #expect(throws: APIError.missingParameter("fy")) { try parse("&preset=focal") }
        #expect(throws: APIError.badParameter("page", "Cannot be combined with animated=1.")) {
            try parse("&page=1", Self.vocabulary(standard: [("animated", "1")]))
        }
    }

    @Test(arguments: ["w=300", "h=1", "watermark=logo", "placeholder=red", "watermarkX=0", "fit=cover", "q=5"])
    func `if only presets are allowed, a request may have few other options`(parameter: String) throws {
        let vocabulary = Self.vocabulary(standard: [("q", "50")], onlyPresets: true)
        let name = String(parameter.prefix { $0 != "=" })
        #expect(throws: APIError.badParameter(name, "Only presets may set this parameter.")) {
            try parse("&preset=card&" + parameter, vocabulary)
        }
        #expect(
            try parse("&preset=card&dpr=2&format=png&expires=5", vocabulary)
                == parse("&q=50&w=400&h=300&fit=cover&dpr=2&format=png&expires=5"))
        #expect(throws: APIError.unknownParameter("size")) { try parse("&size=1", vocabulary) }
    }

    @Test(
        arguments: [
            ([("w", "0")], "w"), ([("w", "1"), ("width", "2")], "width"), ([("url", "x:y")], "url"),
            ([("sig", "a")], "sig"), ([("expires", "1")], "expires"), ([("preset", "card")], "preset"),
            ([("nope", "1")], "nope"), ([("watermark", "nope")], "watermark"),
            ([("watermarkScale", "2")], "watermarkScale"),
        ] as [(Vocabulary.Preset, String)])
    func `a preset that no request can use has a fault`(preset: Vocabulary.Preset, parameter: String) {
        #expect(Self.vocabulary().fault(in: preset)?.parameter == parameter)
    }

    @Test func `usable presets have no fault`() {
        for preset in Self.presets.values { #expect(Self.vocabulary().fault(in: preset) == nil) }
    }

    @Test func `renditions of jobs use presets, and are the same after storage`() throws {
        func requests(_ vocabulary: Vocabulary, _ rendition: String) throws -> AnyRenderRecipe {
            let dialect = NativeDialect(vocabulary: vocabulary)
            let target = try dialect.target(source: "http://h/a b", rendition: rendition)
            return try dialect.request(in: RequestedTarget(target)).recipe
        }
        func request(_ query: String) throws -> AnyRenderRecipe {
            try ThumbnailTarget.parse("/thumbnail?url=http://h/a%20b&" + query, accept: nil).recipe
        }
        #expect(try requests(Self.vocabulary(), "preset=card&w=5") == request("w=5&h=300&fit=cover"))
        let standard = Self.vocabulary(standard: [("enlarge", "1"), ("q", "50")])
        #expect(try requests(standard, "enlarge=0") == request("q=50"))
        #expect(try requests(standard, "") == request("q=50&enlarge=1"))
        #expect(try requests(Self.vocabulary(onlyPresets: true), "preset=card") == request("w=400&h=300&fit=cover"))
        #expect(throws: APIError.self) { try requests(Self.vocabulary(onlyPresets: true), "w=5") }
        #expect(throws: APIError.self) { try requests(Self.vocabulary(), "preset=none") }
    }
}
