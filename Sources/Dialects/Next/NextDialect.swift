package import Recipes
import Text
package import ThumbnailTypes

/// Next.js 16, or Vercel with the same parameters: `/_next/image?url=…&w=640&q=75`.
package struct NextDialect: FrontEndDialect {
    package enum Service: String, Sendable {
        case next, vercel
    }

    package var name: String { service.rawValue }
    private let service: Service
    package let prefix: PathPrefix
    private let configuration: NextConfiguration

    package init(_ service: Service, at prefix: PathPrefix, configuration: NextConfiguration, base: SourceBase?) {
        self.service = service
        self.prefix = prefix
        self.configuration = configuration
        sources = FrontEndSources(
            base: base, prefix: prefix, acceptsBarePaths: service == .vercel, acceptsQueries: service == .vercel)
    }

    private let sources: FrontEndSources

    package func request(in target: RequestedTarget) throws(APIError) -> Request {
        let parameters = try FrontEndParameters(target, at: prefix)
        let source = try sources.source(try parameters.required("url"))
        let width = try FrontEndParameters.whole(
            try parameters.required("w"), parameter: "w", in: FrontEndParameters.sides)
        guard configuration.widths?.contains(width) ?? true else {
            throw .badChoice("w", allowed: (configuration.widths ?? []).map(String.init))
        }
        let quality = try FrontEndParameters.whole(try parameters.required("q"), parameter: "q", in: 1...100)
        guard configuration.qualities?.contains(quality) ?? true else {
            throw .badChoice("q", allowed: (configuration.qualities ?? []).map(String.init))
        }
        var recipe = FrontEndRecipe(
            format: .negotiated(AcceptedFormats.named(of: configuration.formats, in: target.accept?.string)))
        recipe.box.width = width
        recipe.quality = quality
        recipe.formatsOnlyIfAccepted = [.webp, .avif]
        recipe.acceptsDrawings = false
        recipe.unchanged = service == .next ? .animations : .allButWebPhotographs
        return Request(source: source, recipe: recipe, isNegotiated: true)
    }
}

package struct NextConfiguration: Hashable, Sendable {
    package var widths: [Int]?
    package var qualities: [Int]?
    package var formats: [ImageFormat]
    private static let deviceSizes = [640, 750, 828, 1_080, 1_200, 1_920, 2_048, 3_840]

    package static let next = NextConfiguration(
        widths: [32, 48, 64, 96, 128, 256, 384] + deviceSizes, qualities: [75], formats: [.webp])
    /// The defaults of frameworks on Vercel.
    package static let vercel = NextConfiguration(widths: deviceSizes, qualities: nil, formats: [.avif, .webp])
}
