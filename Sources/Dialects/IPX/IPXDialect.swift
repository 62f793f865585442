import Text
package import ThumbnailTypes

/// IPX 4, used by Nuxt Image: `/_ipx/w_300,f_webp/https://example.com/a.jpg`.
package struct IPXDialect: PathOptionsDialect {
    package let name = "ipx"
    package let prefix: PathPrefix
    private let sources: FrontEndSources

    package init(at prefix: PathPrefix, base: SourceBase?) {
        self.prefix = prefix
        sources = FrontEndSources(base: base, prefix: prefix, acceptsBarePaths: true, acceptsColons: true)
    }

    package func request(in target: RequestedTarget) throws(APIError) -> Request {
        let path = try FrontEndPath(target, at: prefix)
        let modifiers = try IPXModifiers(path.options, accept: target.accept?.string)
        var request = Request(
            source: try source(path.source), recipe: IPXRecipe(modifiers: modifiers),
            isNegotiated: modifiers.accepted != nil)
        request.ignoredOptions = modifiers.ignored
        return request
    }

    /// Returns the source, percent-decoded once, without the query of the request.
    private func source(_ text: Substring) throws(APIError) -> ExactText {
        let decoded = try FrontEndPath.source(text.prefix(before: UInt8(ascii: "?")))
        // Static sites and some proxies merge two slashes into one.
        for scheme in ["http:/", "https:/"] where decoded.prefix(scheme.utf8.count).asciiLowercased == scheme {
            let rest = decoded.dropFirst(scheme.utf8.count)
            let url = rest.utf8.first == UInt8(ascii: "/") ? decoded : "\(scheme)/\(rest)"
            return try sources.source(URLEscape.location(url))
        }
        return try sources.source(decoded)
    }
}
