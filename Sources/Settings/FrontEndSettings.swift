import Dialects
import Recipes
import Text
import ThumbnailAPI

struct FrontEndSettings: Sendable {
    /// An endpoint: its dialect's name, its framework's default path, and a function that creates its dialect.
    struct Endpoint: Sendable {
        let name: String
        let usualPath: String
        let makers: String
        let dialect: @Sendable (PathPrefix, FrontEndSettings, SourceBase?) -> any Dialect

        var setting: String { name + "Path" }
    }

    static let endpoints = [
        Endpoint(name: "next", usualPath: "/_next/image", makers: "Next.js") {
            NextDialect(.next, at: $0, $1.next, base: $2)
        },
        Endpoint(name: "vercel", usualPath: "/_vercel/image", makers: "Vercel") {
            NextDialect(.vercel, at: $0, $1.vercel, base: $2)
        },
        Endpoint(name: "netlify", usualPath: "/.netlify/images", makers: "Netlify") {
            NetlifyDialect(at: $0, base: $2)
        },
        Endpoint(name: "astro", usualPath: "/_image", makers: "Astro") { AstroDialect(at: $0, base: $2) },
        Endpoint(name: "cloudflare", usualPath: "/cdn-cgi/image", makers: "Cloudflare") {
            CloudflareDialect(at: $0, base: $2)
        },
        Endpoint(name: "ipx", usualPath: "/_ipx", makers: "IPX and Nuxt Image") { IPXDialect(at: $0, base: $2) },
    ]

    var places: [ExactText: PathPrefix] = [:]
    /// The configured lists of sizes; nil for the framework's own, or for ``SizePolicy``'s if that is restricted.
    var nextSizes: [Int]?
    var nextQualities: [Int]?
    var vercelSizes: [Int]?
    var next = NextConfiguration.next
    var vercel = NextConfiguration.vercel

    func dialects(_ vocabulary: Vocabulary) -> [any Dialect] {
        let sizes = vocabulary.sizes
        var settings = self
        settings.next.widths = nextSizes ?? (sizes.sizes.isEmpty ? next.widths : nil)
        settings.next.qualities = nextQualities ?? (sizes.qualities.isEmpty ? next.qualities : nil)
        settings.vercel.widths = vercelSizes ?? (sizes.sizes.isEmpty ? vercel.widths : nil)
        return Self.endpoints.compactMap { endpoint in
            places[ExactText(endpoint.name)].map { endpoint.dialect($0, settings, vocabulary.baseOrigin) }
        }
    }
}

extension FrontEndSettings {
    static let table: [Setting] =
        FrontEndSettings.endpoints.map { endpoint in
            Setting(
                endpoint.setting, \.dialects.frontEnds.places[ExactText(endpoint.name)],
                .path(example: endpoint.usualPath),
                help: "path of \(endpoint.makers)'s image endpoint, such as \(endpoint.usualPath)")
        } + [
            Setting(
                "nextSizes", \.dialects.frontEnds.nextSizes, .integers(in: 1...16_384), none: "sizes, else as Next.js",
                help: "allowed widths for nextPath"),
            Setting(
                "nextQualities", \.dialects.frontEnds.nextQualities, .integers(in: 1...100), none: "qualities, else 75",
                help: "allowed qualities for nextPath"),
            Setting(
                "nextFormats", \.dialects.frontEnds.next.formats, .formats(), none: "webp",
                help: "formats that Accept may choose for nextPath"),
            Setting(
                "vercelSizes", \.dialects.frontEnds.vercelSizes, .integers(in: 1...16_384),
                none: "sizes, else 640 to 3840", help: "allowed widths for vercelPath"),
            Setting(
                "vercelFormats", \.dialects.frontEnds.vercel.formats, .formats(), none: "avif,webp",
                help: "formats that Accept may choose for vercelPath"),
            Setting(
                "baseOrigin", \.api.vocabulary.baseOrigin,
                .init(allowed: "the name of an origin of the settings file") { text in
                    text.isEmpty || text.utf8.contains(where: { ":/".utf8.contains($0) }) ? nil : SourceBase(text + ":")
                }, help: "named origin of sources that begin with one slash"),
        ]
}
