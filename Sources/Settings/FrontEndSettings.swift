import Dialects
import Recipes
import Text
import ThumbnailAPI

struct FrontEndSettings: Sendable {
    var paths: [ExactText: PathPrefix] = [:]
    /// The allowed widths; nil uses the framework's defaults, or the sizes of ``SizePolicy`` if it is restricted.
    var nextSizes: [Int]?
    var nextQualities: [Int]?
    var vercelSizes: [Int]?
    var next = NextConfiguration.next
    var vercel = NextConfiguration.vercel

    fileprivate func restricted(by vocabulary: Vocabulary) -> FrontEndSettings {
        let sizes = vocabulary.sizes
        var settings = self
        settings.next.widths = nextSizes ?? (sizes.sizes.isEmpty ? next.widths : nil)
        settings.next.qualities = nextQualities ?? (sizes.qualities.isEmpty ? next.qualities : nil)
        settings.vercel.widths = vercelSizes ?? (sizes.sizes.isEmpty ? vercel.widths : nil)
        return settings
    }

    static let baseOrigin = Setting(
        "baseOrigin", \.api.vocabulary.baseOrigin,
        as: .init(allowed: "the name of an origin of the settings file") { text in
            text.isEmpty || text.utf8.contains(where: { ":/".utf8.contains($0) }) ? nil : SourceBase(text + ":")
        }, help: "named origin of sources that begin with one slash")
}

extension DialectRow {
    static let frontEnds = [
        frontEnd("next", at: "/_next/image", of: "Next.js", others: next) {
            NextDialect(.next, at: $0, configuration: $1.next, base: $2)
        },
        frontEnd("vercel", at: "/_vercel/image", of: "Vercel", others: vercel) {
            NextDialect(.vercel, at: $0, configuration: $1.vercel, base: $2)
        },
        frontEnd("netlify", at: "/.netlify/images", of: "Netlify") { NetlifyDialect(at: $0, base: $2) },
        frontEnd("astro", at: "/_image", of: "Astro") { AstroDialect(at: $0, base: $2) },
        frontEnd("cloudflare", at: "/cdn-cgi/image", of: "Cloudflare") { CloudflareDialect(at: $0, base: $2) },
        frontEnd("ipx", at: "/_ipx", of: "IPX and Nuxt Image") { IPXDialect(at: $0, base: $2) },
    ]

    private static func frontEnd(
        _ name: String, at defaultPath: String, of framework: String, others: [Setting] = [],
        making makeDialect: @escaping @Sendable (PathPrefix, FrontEndSettings, SourceBase?) -> any Dialect
    ) -> DialectRow {
        let dialect = ExactText(name)
        let path = Setting(
            name + "Path", \.dialects.frontEnds.paths[dialect], as: .path(example: defaultPath),
            help: "path of \(framework)'s image endpoint, such as \(defaultPath)")
        return DialectRow(name: name, path: { $0.frontEnds.paths[dialect] }, settings: [path] + others) {
            settings, vocabulary in
            settings.frontEnds.paths[dialect].map {
                makeDialect($0, settings.frontEnds.restricted(by: vocabulary), vocabulary.baseOrigin)
            }
        }
    }

    private static let next = [
        Setting(
            "nextSizes", \.dialects.frontEnds.nextSizes, as: .integers(in: 1...16_384),
            whenUnset: "sizes, else as Next.js", help: "allowed widths for nextPath", reloads: true),
        Setting(
            "nextQualities", \.dialects.frontEnds.nextQualities, as: .integers(in: 1...100),
            whenUnset: "qualities, else 75", help: "allowed qualities for nextPath", reloads: true),
        Setting(
            "nextFormats", \.dialects.frontEnds.next.formats, as: .formats(), whenUnset: "webp",
            help: "formats that Accept may choose for nextPath"),
    ]

    private static let vercel = [
        Setting(
            "vercelSizes", \.dialects.frontEnds.vercelSizes, as: .integers(in: 1...16_384),
            whenUnset: "sizes, else 640 to 3840", help: "allowed widths for vercelPath", reloads: true),
        Setting(
            "vercelFormats", \.dialects.frontEnds.vercel.formats, as: .formats(), whenUnset: "avif,webp",
            help: "formats that Accept may choose for vercelPath"),
    ]
}
