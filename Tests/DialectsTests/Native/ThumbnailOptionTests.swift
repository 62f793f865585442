import Recipes
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

struct ThumbnailOptionTests {
    private let dialect = NativeDialect()

    @Test func `every rendition parameter is an option`() {
        let names = Set(ThumbnailParameter.all.map(\.name)).subtracting([
            "url", "sig", "expires", "placeholder",
        ])
        #expect(Set(ThumbnailOption.all.map(\.name)) == names)
        for option in ThumbnailOption.all {
            #expect(!option.form.isEmpty && !option.help.isEmpty)
            for alias in option.aliases {
                #expect(ThumbnailParameter.named(alias)?.name == option.name)
                #expect(ThumbnailOption.named(alias)?.name == option.name)
            }
        }
        #expect(ThumbnailOption.named("url") == nil)
    }

    @Test func `every offered word is a valid value`() throws {
        let needs = ["watermarkPosition": "watermark", "watermarkTile": "watermark"]
        for option in ThumbnailOption.all {
            for value in option.values {
                var options = [(name: option.name, value: value)]
                if let other = needs[option.name] { options.append((other, "https://example.com/a.png")) }
                if value == "face" { options.append(("fit", "cover")) }
                if value == "focal" { options += [("fx", "0.5"), ("fy", "0.5")] }
                #expect(throws: Never.self) { try dialect.request(options: options) }
            }
        }
    }

    @Test func `options are parsed like the parameters of a target`() throws {
        let request = try dialect.request(options: [
            ("width", "300"), ("background", "f00"), ("watermark", "https://example.com/a b.png?x=1&y=ä#"),
        ])
        #expect(request.options.width == 300 && request.options.background == Color(red: 255, green: 0, blue: 0))
        #expect(request.watermark?.source == "https://example.com/a b.png?x=1&y=ä#")
        #expect(throws: APIError.badParameter("w", "Must be a whole number from 1 to 16384.")) {
            try dialect.request(options: [("w", "1&h=2")])
        }
        #expect(throws: APIError.self) { try dialect.request(options: [("url", "https://example.com/")]) }
    }

    @Test func `the same reader parses requests for facts`() throws {
        let facts = try InfoDialect.facts(options: [("include", "color,blurhash"), ("components", "3x2")])
        #expect(facts.features == [.color, .blurHash] && facts.columns == 3 && facts.rows == 2)
        #expect(try InfoDialect.facts(options: []) == FactsRequest())
        #expect(throws: APIError.self) { try InfoDialect.facts(options: [("include", "all")]) }
    }
}
