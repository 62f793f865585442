import Crypto
import HTTPTypes
import Text

/// The digest of a body that its header states: `Content-Digest: sha-256=:…:` (RFC 9530 section 2).
enum ContentDigest {
    /// A digest that is no SHA-256 in base64.
    struct Malformed: Error {}

    /// The SHA-256 that is stated; nil if there is none.
    ///
    /// Digests of other kinds are not looked at; of several the last one counts (RFC 9651 section 3.2).
    static func sha256(in fields: HTTPFields) throws(Malformed) -> SHA256Digest? {
        var digest: SHA256Digest?
        for member in HTTPSyntax.list(fields[.contentDigest] ?? "")
        where HTTPSyntax.trimmed(member.prefix(before: UInt8(ascii: "="))) == "sha-256" {
            let value = HTTPSyntax.trimmed(
                (member.suffix(after: UInt8(ascii: "=")) ?? "").prefix(before: UInt8(ascii: ";")))
            guard value.utf8.count == 46, value.hasPrefix(":"), value.hasSuffix(":"),
                let stated = Base64.decode(value.dropFirst().dropLast()).flatMap({ SHA256Digest(received: $0) })
            else { throw Malformed() }
            digest = stated
        }
        return digest
    }

    /// The field's value for a digest.
    static func text(_ digest: SHA256Digest) -> String { "sha-256=:\(Base64.encode(digest.bytes)):" }
}
