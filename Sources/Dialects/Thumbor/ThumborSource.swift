import Crypto
import Text

enum ThumborSource {
    static func source(_ text: String, base: SourceBase) throws(APIError) -> ExactText {
        var text = text
        if let encoded = text.suffix(after: "b64:"), let decoded = base64(encoded) { text = decoded }
        guard !text.isEmpty else { throw .badURL("The image URL is missing.") }
        if !hasScheme(text) {
            // Some proxies merge two slashes into one.
            guard text.suffix(after: "http:") == nil, text.suffix(after: "https:") == nil else {
                throw .badURL("The image URL must have two slashes after its scheme.")
            }
            // In a named origin, escape the path; the target's query is not part of it.
            if !base.text.contains("://") { text = URLEscape.encode(text.utf8) { !"?#".utf8.contains($0) } }
            text = String(decoding: base.source(Array(text.utf8)), as: UTF8.self)
        }
        // For a named origin it may be a file name, so leave its spaces alone.
        if text.contains("://") { text = text.replacing(" ", with: "%20") }
        return ExactText(try ParameterGrammar.source(text))
    }

    /// Returns the color of `color:red`, which stands for a plain image; nil for other texts.
    static func color(_ text: String) -> String? { text.suffix(after: "color:").map { String($0) } }

    private static func base64(_ text: Substring) -> String? {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        guard let digits = String(digits), let bytes = Base64URL.decode(digits) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hasScheme(_ text: String) -> Bool {
        let scheme = text.utf8.prefix { byte in
            (byte | 0x20).isASCIILowercase || byte.isASCIIDigit || byte == UInt8(ascii: "+")
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        return !scheme.isEmpty && text.utf8.dropFirst(scheme.count).starts(with: "://".utf8)
    }
}
