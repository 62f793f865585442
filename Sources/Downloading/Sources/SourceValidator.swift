import Crypto

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
