import Imaging
import Text
import ThumbnailPipeline

/// The image endpoint of Netlify: `/.netlify/images?url=…&w=300&h=200&fit=cover`.
package struct NetlifyDialect: UnsignedDialect {
    package let name = "netlify"
    package let place: DialectPlace
    private let sources: FrontEndSources

    private enum Fit: String, CaseIterable {
        case contain, cover, fill
    }

    private enum Position: String, CaseIterable {
        case center, top, bottom, left, right
    }

    /// The names of formats; `blurhash` is none that is made here.
    private static let formats: [(name: String, format: ImageFormat)] = [
        ("avif", .avif), ("jpg", .jpeg), ("jpeg", .jpeg), ("png", .png), ("webp", .webp), ("gif", .gif),
    ]

    /// The quality of targets that name none.
    private static let quality = 75

    /// The dialect at a place.
    package init(at place: DialectPlace, base: SourceBase?) {
        self.place = place
        sources = FrontEndSources(base: base, acceptsBarePaths: true)
    }

    package func query(in target: RequestedTarget) throws(APIError) -> ThumbnailQuery {
        let parameters = try FrontEndTarget(target, at: place)
        let source = try sources.source(try parameters.required("url"))
        let format = try format(try parameters["fm"])
        var recipe = FrontEndRecipe(
            format: format.map { .fixed($0) }
                ?? .negotiated(AcceptedFormats.named(of: [.webp, .avif], in: target.accept?.string)))
        if case .negotiated(let formats) = recipe.format, formats.contains(.webp) {
            recipe.format = .negotiated([.webp])
        }
        recipe.width = try parameters.whole("w", "width", in: FrontEndTarget.sides)
        recipe.height = try parameters.whole("h", "height", in: FrontEndTarget.sides)
        recipe.usualQuality = Self.quality
        recipe.quality = try parameters.whole("q", "quality", in: 1...100)
        if let fit: Fit = try parameters.choice("fit") {
            recipe.fit =
                switch fit {
                case .contain: .inside
                case .cover: .cover
                case .fill: .fill
                }
        }
        if let position: Position = try parameters.choice("position") {
            recipe.gravity = ParameterGrammar.gravity(position.rawValue) ?? .center
        }
        return ThumbnailQuery(
            request: ThumbnailRequest(source: source, recipe: recipe, isNegotiated: format == nil))
    }

    private func format(_ name: String?) throws(APIError) -> ImageFormat? {
        guard let name else { return nil }
        guard name != "blurhash" else { throw .unsupportedOption("fm", "A BlurHash is made by /info alone.") }
        guard let known = Self.formats.first(where: { $0.name == name }) else {
            throw .badChoice("fm", allowed: Self.formats.map(\.name))
        }
        return known.format
    }
}
