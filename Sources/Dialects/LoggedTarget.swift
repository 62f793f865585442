import Text

/// Targets for logs, without sources, signatures and keys.
package enum LoggedTarget {
    private static let hidden: Set<ExactText> = ["url", "href", "file", "image", "default", "sig", "sign", "key"]

    /// Returns the path and the parameters that may be logged, as sent.
    package static func query(_ target: String) -> String {
        var visible: [String] = []
        for parameter in RawQuery(target: target).parameters {
            guard let name = URLEscape.decodeText(parameter.name), let value = URLEscape.decodeText(parameter.value)
            else {
                continue
            }
            let isSource = value.contains("://") || name == "mark" && value.utf8.contains(UInt8(ascii: ":"))
            if !isSource, !hidden.contains(ExactText(name)) {
                let text = [parameter.name, parameter.value].map { String(decoding: $0, as: UTF8.self) }
                visible.append(text.joined(separator: "="))
            }
            // The rest may be the query of a source that is not percent-encoded, and may contain a token.
            if parameter.value.contains(UInt8(ascii: "?")) { break }
        }
        let path = target.prefix(before: UInt8(ascii: "?"))
        return visible.isEmpty ? String(path) : "\(path)?\(visible.joined(separator: "&"))"
    }

    /// Returns the source in a query; nil if it is in the path or not percent-encoded UTF-8.
    static func source(inQuery target: String) -> String? {
        RawQuery(target: target).parameters.first { parameter in
            ["url", "href"].contains { parameter.name.elementsEqual($0.utf8) }
        }
        .flatMap { URLEscape.decodeText($0.value) }
    }
}

extension PathPrefix {
    /// Returns the prefix and the options, without signature and source.
    func loggedPath(_ options: some StringProtocol) -> String {
        options.contains("://") ? path : self.path(of: String(options))
    }
}
