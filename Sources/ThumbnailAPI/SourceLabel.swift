/// What the log may say of a source: host and path, never user information, query or fragment.
enum SourceLabel {
    /// The loggable part of `source`, which may be anything that a stranger typed.
    static func text(_ source: String) -> String {
        let visible = source.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let path = Substring(visible)
        guard let scheme = path.firstRange(of: "://"), !path[..<scheme.lowerBound].contains("/") else {
            // No authority where one belongs: whatever stands before an at sign could be a password.
            return String(path[(path.lastIndex(of: "@").map { path.index(after: $0) } ?? path.startIndex)...])
        }
        let rest = path[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "\\" }
        let user = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        return String(rest[user...])
    }
}
