import Crypto
import HTTPTypes
package import Memory
import Text

package enum SourceValidator: Hashable, Sendable, CustomStringConvertible {
    case entityTag(String)
    /// The SHA-256 of the bytes in lowercase hexadecimal; used if the origin sent no strong entity tag.
    case digest(String)

    init(_ digest: SHA256Digest) { self = .digest(digest.hexadecimal) }

    /// The entity tag, including its quotes, or the digest.
    package var description: String {
        switch self {
        case .entityTag(let text), .digest(let text): text
        }
    }
}

package struct Source: Sendable {
    package let head: SourceHead
    package let bytes: SharedBytes
    package var timings = TransferTimings()
    /// Codings that must still be decoded; empty outside the loader.
    var codings: [ContentCoding] = []

    package var identity: SourceIdentity { head.identity }
    package var validator: SourceValidator { head.validator }
}

package struct TransferTimings: Hashable, Sendable {
    package var dns = Duration.zero
    package var connect = Duration.zero
    package var tls = Duration.zero
    package var firstByte = Duration.zero
    package var total = Duration.zero
    package var isReused = false

    package init() {}

    /// Adds the durations of a later request.
    mutating func add(_ later: TransferTimings) {
        dns += later.dns
        connect += later.connect
        tls += later.tls
        firstByte += later.firstByte
        total += later.total
        isReused = later.isReused
    }
}

/// A supported content coding (RFC 9110 section 8.4.1); origins may use one although we request none.
enum ContentCoding: String, Sendable {
    case gzip, deflate
    case brotli = "br"

    /// The maximum number of nested codings.
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
