import Text

struct FrontEndSources: Sendable {
    /// The base URL of paths; nil if sources must be absolute URLs.
    let base: SourceBase?
    /// The endpoint's prefix; sources below it are rejected as loops.
    let prefix: PathPrefix
    /// Whether a path may omit its leading slash.
    var acceptsBarePaths = false
    var acceptsQueries = true
    /// Whether a path without a leading slash may contain a colon; it must not begin with a web scheme.
    var acceptsColons = false

    /// Returns the source; rejects `//host` and backslashes, which browsers treat as slashes.
    ///
    /// Paths that would leave the origin are rejected later, by the origin.
    func source(_ text: String) throws(APIError) -> ExactText {
        guard !text.hasPrefix("//"), !text.utf8.contains(UInt8(ascii: "\\")) else {
            throw .badURL("The source must not begin with two slashes or contain a backslash.")
        }
        if FrontEndPath.isAbsolute(text) {
            return ExactText(try ParameterGrammar.source(text))
        }
        let isPath = text.hasPrefix("/") || acceptsBarePaths && !begins(withScheme: text)
        guard isPath, !text.isEmpty else {
            throw .badURL("The source must be a path, or an absolute http or https URL.")
        }
        guard acceptsQueries || !text.utf8.contains(UInt8(ascii: "?")) else {
            throw .badURL("A path must have no query.")
        }
        let path = text.hasPrefix("/") ? text : "/" + text
        let decoded = URLEscape.decodeAgain(path.utf8) ?? path
        guard prefix.path == "/" || prefix.remainder(of: decoded) == nil else {
            throw .badURL("The source is below this endpoint's own prefix.")
        }
        guard let base else { throw .badURL("The source is a path, but baseOrigin is not set.") }
        return ExactText(try ParameterGrammar.source(base.source(path: text)))
    }

    private func begins(withScheme text: String) -> Bool {
        guard acceptsColons else { return text.utf8.contains(UInt8(ascii: ":")) }
        let scheme = text.prefix(before: UInt8(ascii: ":")).asciiLowercased
        return ["http", "https"].contains(scheme) && scheme.utf8.count < text.utf8.count || text.contains("://")
    }
}
