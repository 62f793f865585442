import Recipes
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

struct WatermarkGrammarTests {
    private static let logo = {
        var options = WatermarkOptions()
        (options.position, options.opacity, options.scale) = (.topLeft, 60, 2_000)
        return Vocabulary.Watermark(source: "media:logo.png", options: options)
    }()

    private func parse(_ query: String) throws(APIError) -> Request {
        var vocabulary = Vocabulary()
        vocabulary.watermarks = ["logo": Self.logo]
        return try ThumbnailTarget.parse("/thumbnail?url=x:y" + query, accept: nil, vocabulary: vocabulary)
    }

    @Test func `a watermark alone has all defaults`() throws {
        let query = try parse("&watermark=http%3A%2F%2Fh%2Fa%20b.png%3Fx%3D1")
        #expect(query.additional == [AdditionalSource(.watermark, source: "http://h/a b.png?x=1")])
        #expect(query.options.watermark == WatermarkOptions())
        let plain = try parse("")
        #expect(plain.additional.isEmpty && plain.options.watermark == nil)
    }

    @Test func `every parameter sets its option`() throws {
        let query = try parse(
            "&watermarkPosition=top&watermarkX=-16384&watermarkY=16384&watermarkOpacity=1&watermarkScale=0.1234"
                + "&watermarkTile=1&watermark=shop:logo.png")
        var options = WatermarkOptions()
        (options.position, options.x, options.y, options.opacity) = (.top, -16_384, 16_384, 1)
        (options.scale, options.isTiled) = (1_234, true)
        #expect(query.options.watermark == options)
    }

    @Test func `an option at its default equals the request without it`() throws {
        #expect(
            try parse(
                "&watermark=x:z&watermarkPosition=bottom-right&watermarkX=0&watermarkY=0&watermarkOpacity=100"
                    + "&watermarkTile=0") == parse("&watermark=x:z"))
    }

    @Test func `a name means a source and defaults, which parameters override`() throws {
        #expect(try parse("&watermark=logo").watermark == Self.logo)
        let other = try parse("&watermark=logo&watermarkPosition=left&watermarkOpacity=100")
        var expected = Self.logo
        (expected.options.position, expected.options.opacity) = (.left, 100)
        #expect(other.watermark == expected)
        #expect(try parse("&watermark=media:logo.png").options.watermark == WatermarkOptions())
    }

    @Test(arguments: [
        ("watermark=", "watermark"), ("watermark=none", "watermark"), ("watermark=Logo", "watermark"),
        ("watermark=//h/a.png", "watermark"), ("watermark=../logo", "watermark"), ("watermark=%zz", "watermark"),
        ("watermark=logo&watermark=logo", "watermark"), ("watermark=%C3%A9", "watermark"),
        ("watermarkX=0", "watermarkX"), ("watermarkTile=0&watermarkX=1", "watermarkTile"),
        ("watermarkOpacity=100", "watermarkOpacity"), ("watermarkScale=1", "watermarkScale"),
        ("watermarkPosition=bottom-right", "watermarkPosition"),
        ("watermark=logo&watermarkPosition=entropy", "watermarkPosition"),
        ("watermark=logo&watermarkPosition=attention", "watermarkPosition"),
        ("watermark=logo&watermarkPosition=focal", "watermarkPosition"),
        ("watermark=logo&watermarkPosition=", "watermarkPosition"),
        ("watermark=logo&watermarkX=16385", "watermarkX"), ("watermark=logo&watermarkX=-16385", "watermarkX"),
        ("watermark=logo&watermarkX=-0", "watermarkX"), ("watermark=logo&watermarkX=%2B1", "watermarkX"),
        ("watermark=logo&watermarkX=--1", "watermarkX"), ("watermark=logo&watermarkY=1.5", "watermarkY"),
        ("watermark=logo&watermarkY=01", "watermarkY"), ("watermark=logo&watermarkY=-", "watermarkY"),
        ("watermark=logo&watermarkOpacity=0", "watermarkOpacity"),
        ("watermark=logo&watermarkOpacity=101", "watermarkOpacity"),
        ("watermark=logo&watermarkScale=0", "watermarkScale"),
        ("watermark=logo&watermarkScale=0.0099", "watermarkScale"),
        ("watermark=logo&watermarkScale=1.0001", "watermarkScale"),
        ("watermark=logo&watermarkScale=0.12345", "watermarkScale"),
        ("watermark=logo&watermarkScale=.5", "watermarkScale"),
        ("watermark=logo&watermarkScale=1.", "watermarkScale"),
        ("watermark=logo&watermarkScale=0.-5", "watermarkScale"),
        ("watermark=logo&watermarkTile=2", "watermarkTile"), ("watermark=logo&watermarkTile=true", "watermarkTile"),
    ])
    func `a bad value names its parameter`(query: String, parameter: String) throws {
        let error = #expect(throws: APIError.self) { try parse("&" + query) }
        #expect(error?.code == "bad_parameter" && error?.parameter == parameter)
    }

    @Test func `a source has at most 2048 bytes`() throws {
        let longest = "x:" + String(repeating: "a", count: 2_046)
        #expect(try parse("&watermark=" + longest).watermark?.source == ExactText(longest))
        #expect(throws: APIError.self) { try parse("&watermark=a" + longest) }
    }

    @Test func `writing and parsing are inverse`() throws {
        var random = SplitMix(state: 7)
        let places: [Gravity] = [
            .center, .top, .topRight, .right, .bottomRight, .bottom, .bottomLeft, .left, .topLeft,
        ]
        for _ in 0..<1_000 {
            var options = WatermarkOptions()
            options.position = places.randomElement(using: &random) ?? .center
            options.x = .random(in: -16_384...16_384, using: &random)
            options.y = .random(in: -1...1, using: &random)
            options.opacity = .random(in: 1...100, using: &random)
            options.scale = Bool.random(using: &random) ? nil : .random(in: 100...10_000, using: &random)
            options.isTiled = .random(using: &random)
            var query = Request(source: "x:y")
            query.options.watermark = options
            query.additional = [AdditionalSource(.watermark, source: "https://h/a b&c=d#e?f+g%20☃")]
            let target = try #require(ThumbnailTarget.generate(query))
            #expect(try ThumbnailTarget.parse(target, accept: nil) == query, "\(target)")
        }
    }
}
