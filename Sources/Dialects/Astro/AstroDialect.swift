import Imaging
import Text
import ThumbnailPipeline

/// The image endpoint of Astro: `/_image?href=…&w=300&h=200&f=webp`.
///
/// Numbers and words that mean nothing count as if they were not there, as in the original.
package struct AstroDialect: UnsignedDialect {
    package let name = "astro"
    package let place: DialectPlace
    private let sources: FrontEndSources

    private static let formats: [(name: String, format: ImageFormat)] = [
        ("webp", .webp), ("avif", .avif), ("png", .png), ("jpeg", .jpeg), ("jpg", .jpeg), ("gif", .gif),
    ]
    private static let qualities: [(name: String, quality: Int)] = [
        ("low", 25), ("mid", 50), ("high", 80), ("max", 100),
    ]
    /// Seconds for which clients keep an answer.
    private static let year = 31_536_000

    /// The dialect at a place.
    package init(at place: DialectPlace, base: SourceBase?) {
        self.place = place
        sources = FrontEndSources(base: base)
    }

    package func query(in target: RequestedTarget) throws(APIError) -> ThumbnailQuery {
        let parameters = try FrontEndTarget(target, at: place)
        let source = try sources.source(try parameters.required("href"))
        var recipe = FrontEndRecipe(format: .fixed(try format(try parameters["f"])))
        recipe.width = try Self.side(try parameters["w"], "w")
        recipe.height = try Self.side(try parameters["h"], "h")
        if let text = try parameters["q"] {
            recipe.quality = Self.qualities.first { $0.name == text }?.quality ?? Self.number(text).map { min(100, $0) }
        }
        if recipe.width != nil, recipe.height != nil {
            recipe.fit = Self.fit(try parameters["fit"])
            if let text = try parameters["position"] {
                recipe.gravity = try FrontEndTarget.position(text, "position")
            }
        }
        recipe.background = try parameters.color("background")
        var query = ThumbnailQuery(request: ThumbnailRequest(source: source, recipe: recipe, isNegotiated: false))
        query.answer.maximumAge = Self.year
        return query
    }

    private func format(_ name: String?) throws(APIError) -> ImageFormat {
        guard let name, !name.isEmpty else { return .webp }
        if let known = Self.formats.first(where: { $0.name == name }) { return known.format }
        guard name != "svg", name != "tiff" else {
            throw .unsupportedOption("f", "Results are not written as \(name.uppercased()).")
        }
        throw .badChoice("f", allowed: Self.formats.map(\.name))
    }

    /// A side: the digits at the beginning of a text, if they are not zero.
    ///
    /// - Throws: ``APIError/badParameter(_:_:)`` for a negative number, or one that no side can have.
    private static func side(_ text: String?, _ name: String) throws(APIError) -> Int? {
        guard let text else { return nil }
        guard !text.hasPrefix("-") else { throw .badParameter(name, "Must not be negative.") }
        guard let number = number(text) else { return nil }
        guard number <= FrontEndTarget.sides.upperBound else {
            throw .badParameter(name, "Must be at most \(FrontEndTarget.sides.upperBound).")
        }
        return number
    }

    /// The digits at the beginning of a text; nil if there are none, or only zeros.
    private static func number(_ text: String) -> Int? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
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
