import Text
package import ThumbnailTypes

/// `/cdn-cgi/image/width=300,fit=cover/https://example.com/a.jpg`.
package struct CloudflareDialect: PathOptionsDialect {
    package let name = "cloudflare"
    package let prefix: PathPrefix
    private let sources: FrontEndSources

    package init(at prefix: PathPrefix, base: SourceBase?) {
        self.prefix = prefix
        sources = FrontEndSources(base: base, prefix: prefix, acceptsBarePaths: true, acceptsColons: true)
    }

    package func request(in target: RequestedTarget) throws(APIError) -> Request {
        let path = try FrontEndPath(target, at: prefix)
        let options = try CloudflareOptions(path.options, accept: target.accept?.string)
        let source = try source(path.source)
        let recipe = CloudflareRecipe(options: options)
        var request = Request(source: source, recipe: recipe, isNegotiated: options.accepted != nil)
        if options.requestsFacts {
            request.form.facts = FactsRequest()
            request.form.factsWriter = ResponseWriter(for: recipe) { recipe.response(about: $0) }
        }
        request.ignoredOptions = options.ignored
        if options.redirectsOnError, FrontEndPath.isAbsolute(source.string) {
            request.form.fallback = .named(source, asTarget: nil)
        }
        return request
    }

    private func source(_ text: Substring) throws(APIError) -> ExactText {
        if FrontEndPath.isAbsolute(text) { return try sources.source(String(text)) }
        let written = text.prefix(before: UInt8(ascii: "?"))
        return try sources.source(try FrontEndPath.source(written) + text[written.endIndex...])
    }
}
