package import Downloading

package struct CallbackHosts: Sendable {
    private var names: [String] = []
    /// The suffixes of wildcard names, including the leading dot.
    private var domainSuffixes: [String] = []

    package init() {}

    /// Parses names, `*.NAME` for all hosts below a name, and addresses; nil if one is invalid.
    package init?(_ texts: [String]) {
        for text in texts {
            let isWildcard = text.hasPrefix("*.")
            let name = isWildcard ? text.dropFirst(2) : text[...]
            // Parse it like a callback URL, so that both are spelled the same.
            guard !name.contains(where: { "/?#".contains($0) }), let url = try? SourceURL(parsing: "http://\(name)/"),
                url.port == 80, url.path == "/", !isWildcard || url.address == nil
            else { return nil }
            if isWildcard { domainSuffixes.append("." + url.host) } else { names.append(url.host) }
        }
    }

    package func allow(_ url: SourceURL) -> Bool {
        names.contains(url.host)
            || domainSuffixes.contains { url.host.hasSuffix($0) && url.host.utf8.count > $0.utf8.count }
    }
}
