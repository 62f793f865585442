package import Downloading

package struct CallbackHosts: Sendable {
    private var names: [String] = []
    /// The suffixes of wildcard names, each with its leading dot.
    private var endings: [String] = []

    package init() {}

    /// Parses names, `*.NAME` for all hosts below a name, and addresses; nil if one is invalid.
    package init?(_ texts: [String]) {
        for text in texts {
            let isEnding = text.hasPrefix("*.")
            let name = isEnding ? text.dropFirst(2) : text[...]
            // Parsed like the host of a callback, so that both have the same spelling.
            guard !name.contains(where: { "/?#".contains($0) }), let url = try? SourceURL(parsing: "http://\(name)/"),
                url.port == 80, url.path == "/", !isEnding || url.address == nil
            else { return nil }
            if isEnding { endings.append("." + url.host) } else { names.append(url.host) }
        }
    }

    package func allow(_ url: SourceURL) -> Bool {
        names.contains(url.host) || endings.contains { url.host.hasSuffix($0) && url.host.utf8.count > $0.utf8.count }
    }
}
