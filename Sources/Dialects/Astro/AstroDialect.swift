import Recipes
import Text
package import ThumbnailTypes

/// `/_image?href=…&w=300&h=200&f=webp`; ignores unknown words and malformed numbers, as the original does.
package struct AstroDialect: FrontEndDialect {
    package let name = "astro"
    package let prefix: PathPrefix
    private let sources: FrontEndSources

    private static let qualities: [(name: String, quality: Int)] = [
        ("low", 25), ("mid", 50), ("high", 80), ("max", 100),
    ]
    /// The lifetime of a response for clients, in seconds.
    private static let year = 31_536_000

    package init(at prefix: PathPrefix, base: SourceBase?) {
        self.prefix = prefix
        sources = FrontEndSources(base: base, prefix: prefix)
    }

    package func request(in target: RequestedTarget) throws(APIError) -> Request {
        let parameters = try FrontEndParameters(target, at: prefix)
        let source = try sources.source(try parameters.required("href"))
        let format = try parameters["f"] ?? ""
        var recipe = FrontEndRecipe(
            format: try format.isEmpty
                ? .negotiated([.webp]) : .fixed(FrontEndParameters.format(format, parameter: "f")))
        // Drawings are always rendered, whatever the format, and not converted to other formats.
        recipe.acceptsDrawings = format.isEmpty
        recipe.box.width = try Self.side(try parameters["w"], parameter: "w")
        recipe.box.height = try Self.side(try parameters["h"], parameter: "h")
        if let text = try parameters["q"] {
            recipe.quality = Self.qualities.first { $0.name == text }?.quality ?? Self.number(text)
            guard recipe.quality ?? 1 <= 100 else { throw .badParameter("q", "Must be at most 100.") }
        }
        if recipe.box.width != nil, recipe.box.height != nil {
            recipe.fit = Self.fit(try parameters["fit"])
            if let text = try parameters["position"] {
                recipe.gravity = try FrontEndParameters.position(text, parameter: "position")
            }
        }
        recipe.background = try parameters.color("background")
        var request = Request(source: source, recipe: recipe, isNegotiated: false)
        request.form.maximumAge = Self.year
        return request
    }

    private static func side(_ text: String?, parameter name: String) throws(APIError) -> Int? {
        guard let text else { return nil }
        guard !text.hasPrefix("-") else { throw .badParameter(name, "Must not be negative.") }
        guard let number = number(text) else { return nil }
        guard number <= FrontEndParameters.sides.upperBound else {
            throw .badParameter(name, "Must be at most \(FrontEndParameters.sides.upperBound).")
        }
        return number
    }

    private static func number(_ text: String) -> Int? {
        let digits = text.utf8.prefix(while: \.isASCIIDigit)
        guard let number = Int(String(decoding: digits.prefix(9), as: UTF8.self)), number > 0 else { return nil }
        return number
    }

    private static func fit(_ word: String?) -> FrontEndRecipe.Fit {
        switch word {
        case nil, "", "cover": .cover
        case "fill": .fill
        case "outside", "none": .outside
        default: .inside
        }
    }
}
