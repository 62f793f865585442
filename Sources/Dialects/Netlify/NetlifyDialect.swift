import Recipes
import Text
package import ThumbnailTypes

package struct NetlifyDialect: FrontEndDialect {
    package let name = "netlify"
    package let prefix: PathPrefix
    private let sources: FrontEndSources

    private enum Fit: String, CaseIterable {
        case contain, cover, fill
    }

    private enum Position: String, CaseIterable {
        case center, top, bottom, left, right
    }

    private static let quality = 75

    package init(at prefix: PathPrefix, base: SourceBase?) {
        self.prefix = prefix
        sources = FrontEndSources(base: base, prefix: prefix, acceptsBarePaths: true)
    }

    package func request(in target: RequestedTarget) throws(APIError) -> Request {
        let parameters = try FrontEndParameters(target, at: prefix)
        let source = try sources.source(try parameters.required("url"))
        let word = try parameters["fm"]
        let isText = word == "blurhash"
        let format =
            try isText
            ? .png : word.map { name throws(APIError) in try FrontEndParameters.format(name, parameter: "fm") }
        var recipe = FrontEndRecipe(
            format: format.map { .fixed($0) }
                ?? .negotiated(AcceptedFormats.named(of: [.webp, .avif], in: target.accept?.string)))
        if case .negotiated(let formats) = recipe.format, formats.contains(.webp) {
            recipe.format = .negotiated([.webp])
        }
        recipe.box.width = try parameters.whole("w", "width", in: FrontEndParameters.sides)
        recipe.box.height = try parameters.whole("h", "height", in: FrontEndParameters.sides)
        recipe.defaultQuality = Self.quality
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
        var request = Request(source: source, recipe: recipe, isNegotiated: format == nil)
        if isText {
            request.form.facts = FactsRequest(features: [.blurHash])
            request.form.factsWriter = ResponseWriter(for: recipe) { facts in
                facts.appearance?.blurHash.map { WrittenResponse(mediaType: "text/plain", body: .text($0)) }
            }
        }
        return request
    }
}
