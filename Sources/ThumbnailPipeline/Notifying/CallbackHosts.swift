package import Downloading

/// The hosts that the callbacks of jobs may lead to.
package struct CallbackHosts: Sendable {
    private var names: [String] = []
    /// The ends of names that any host below has, each with its first point.
    private var endings: [String] = []

    /// No host.
    package init() {}

    /// The hosts in a list: names, `*.NAME` for all below a name, or addresses; nil if one is none of these.
    package init?(_ texts: [String]) {
        for text in texts {
            let isEnding = text.hasPrefix("*.")
            let name = isEnding ? text.dropFirst(2) : text[...]
            // Read as the host of a callback is, so that both have one spelling.
            guard !name.contains(where: { "/?#".contains($0) }), let url = try? SourceURL(parsing: "http://\(name)/"),
                url.port == 80, url.path == "/", !isEnding || url.address == nil
            else { return nil }
            if isEnding { endings.append("." + url.host) } else { names.append(url.host) }
        }
    }

    /// Whether a callback may lead to the host of `url`, on any port.
    package func allow(_ url: SourceURL) -> Bool {
        names.contains(url.host) || endings.contains { url.host.hasSuffix($0) && url.host.utf8.count > $0.utf8.count }
    }
}
