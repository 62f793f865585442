import HTTPTypes
import Text

/// A supported content coding (RFC 9110 section 8.4.1); origins may use one although we request none.
enum ContentCoding: String, Sendable {
    case gzip, deflate
    case brotli = "br"

    static let maximumCount = 2

    /// Ignores unknown codings: `aws-chunked`, `utf-8` and others occur with bytes that are not encoded.
    static func codings(of fields: HTTPFields) -> [ContentCoding] {
        let words = fields.values(of: .contentEncoding).flatMap { $0.split(separator: ",") }
        return words.compactMap { Self($0) }.reversed()
    }

    private init?(_ word: Substring) {
        switch HTTPSyntax.trimmed(word).asciiLowercased {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        default: return nil
        }
    }
}
