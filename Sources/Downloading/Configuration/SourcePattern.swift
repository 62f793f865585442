import Text

/// A pattern of allowed sources such as `https://*.example.com/*`; a star matches any run of characters.
///
/// Matches the parts of the parsed URL separately, so that a star in the host never extends into the path. Without a
/// scheme it matches both schemes, without a path every path, without a port only the scheme's default port.
package struct SourcePattern: Hashable, Sendable, CustomStringConvertible {
    private let scheme: [UInt8]
    private let host: [UInt8]
    /// The port; nil for the scheme's default, 0 for any.
    private let port: Int?
    private let path: [UInt8]
    /// Whether the path is a prefix, in which a star does not match a slash.
    private let isPrefix: Bool

    package let description: String

    package var keyText: String { (isPrefix ? "beginning:" : "pattern:") + description }

    package init?(_ text: String) { self.init(text, isPrefix: false) }

    /// Parses a pattern whose path is a prefix; a star in the path does not match a slash.
    package init?(prefix text: String) { self.init(text, isPrefix: true) }

    private init?(_ text: String, isPrefix: Bool) {
        var rest = Substring(text)
        var scheme = "*"
        if let end = rest.firstRange(of: "://") {
            scheme = rest[..<end.lowerBound].lowercased()
            rest = rest[end.upperBound...]
        }
        guard ["http", "https", "*"].contains(scheme) else { return nil }
        let authority = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(authority.count)
        var host = authority
        var port: Int?
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            let text = authority[authority.index(after: colon)...]
            guard let number = text == "*" ? 0 : Int(text), text == "*" || (1...65_535).contains(number) else {
                return nil
            }
            port = number
            host = authority[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, text.utf8.allSatisfy({ $0.isVisibleASCII && $0 != UInt8(ascii: "@") }) else { return nil }
        self.scheme = Array(scheme.utf8)
        self.host = Array(host.lowercased().utf8)
        self.port = port
        self.path = path.isEmpty && !isPrefix ? Array("*".utf8) : Array(path.utf8)
        self.isPrefix = isPrefix
        description = text
    }

    /// Matches a query as the end of the path.
    package func matches(_ url: SourceURL) -> Bool {
        let target = Substring(url.canonical).utf8.dropFirst(url.scheme.utf8.count + 3).drop { $0 != UInt8(ascii: "/") }
        return Self.matches(url.scheme.utf8, pattern: scheme) && Self.matches(url.host.utf8, pattern: host)
            && (port == 0 || (port ?? (url.scheme == "https" ? 443 : 80)) == url.port)
            && (isPrefix ? matchesPrefix(of: target) : Self.matches(target, pattern: path))
    }

    private func matchesPrefix(of target: Substring.UTF8View) -> Bool {
        let slash = UInt8(ascii: "/")
        let segments = path.split(separator: slash, omittingEmptySubsequences: false)
        let targetSegments = target.split(separator: slash, maxSplits: segments.count, omittingEmptySubsequences: false)
        return segments.count <= targetSegments.count
            && segments.indices.allSatisfy { index in
                let isLast = index == segments.count - 1
                let pattern = Array(segments[index]) + (isLast ? Array("*".utf8) : [])
                return Self.matches(targetSegments[index], pattern: pattern)
            }
    }

    /// Whether the pattern matches one host, or only hosts below a name of at least two labels.
    var namesHost: Bool {
        let star = UInt8(ascii: "*")
        guard host.contains(star) else { return true }
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count > 2 && labels.suffix(2).allSatisfy { !$0.isEmpty && !$0.contains(star) }
    }

    /// Greedy, with one backtracking point: the time is at most the product of the lengths.
    private static func matches(_ text: some Sequence<UInt8>, pattern: [UInt8]) -> Bool {
        let text = Array(text)
        var position = 0
        var index = 0
        var star: (position: Int, index: Int)?
        while index < text.count {
            if position < pattern.count, pattern[position] == UInt8(ascii: "*") {
                star = (position, index)
                position += 1
            } else if position < pattern.count, pattern[position] == text[index] {
                position += 1
                index += 1
            } else if let last = star {
                star = (last.position, last.index + 1)
                position = last.position + 1
                index = last.index + 1
            } else {
                return false
            }
        }
        return pattern[position...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
