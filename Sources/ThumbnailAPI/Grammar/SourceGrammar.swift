/// What every source must be before anybody looks closer; whether it is a URL is judged by whoever parses URLs.
enum SourceGrammar {
    /// Longest source, in bytes after percent-decoding.
    static let longest = 2_048

    /// The source as it came.
    ///
    /// - Throws: ``APIError`` when it is empty or too long.
    static func source(_ text: String) throws(APIError) -> String {
        guard !text.isEmpty else { throw .badURL("The source's URL is empty.") }
        guard text.utf8.count <= longest else { throw .badURL("The source's URL is longer than \(longest) bytes.") }
        return text
    }
}
