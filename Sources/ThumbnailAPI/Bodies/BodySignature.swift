package import Crypto
import Dialects
package import HTTPTypes
import Text

/// The field `Alula-Signature`: HMAC-SHA256 in base64url over lines of text.
///
/// The lines are the method, the raw target and the SHA-256 of the body in lowercase hexadecimal digits. If the
/// signature begins with `v2:`, a line `v2` comes first, and the values of `Content-Type` and `Accept` come before the
/// digest. A missing field is an empty line; several lines of one field are joined with a comma and a space.
package struct BodySignature {
    package enum Version: Sendable {
        case one
        case two
    }

    private static let mark = "v2:"

    private let version: Version
    private let code: [UInt8]

    /// Returns nil if the field is absent or malformed.
    init?(_ fields: HTTPFields) {
        let values = fields.values(of: .alulaSignature)
        guard values.count == 1 else { return nil }
        version = values[0].hasPrefix(Self.mark) ? .two : .one
        let text = version == .two ? values[0].dropFirst(Self.mark.count) : values[0][...]
        guard let code = Base64URL.decode(text), code.count == URLSigner.codeLength else { return nil }
        self.code = code
    }

    func isValid(for request: HTTPRequest, digest: SHA256Digest, keys: [[UInt8]]) -> Bool {
        let message = Self.message(version, of: request, digest: digest)
        var isValid = false
        for key in keys {
            let isMatch = HMAC.isEqual(HMAC.authenticationCode(for: message, key: key), code)
            isValid = isMatch || isValid
        }
        return isValid
    }

    package static func sign(
        _ request: HTTPRequest, digest: SHA256Digest, key: [UInt8], version: Version = .one
    ) -> String {
        let code = Base64URL.encode(
            HMAC.authenticationCode(for: message(version, of: request, digest: digest), key: key))
        return version == .two ? mark + code : code
    }

    package static func fields(
        of request: HTTPRequest, digest: SHA256Digest, key: [UInt8], version: Version
    ) -> HTTPFields {
        [
            .alulaSignature: sign(request, digest: digest, key: key, version: version),
            .contentDigest: ContentDigest.text(digest),
        ]
    }

    private static func message(_ version: Version, of request: HTTPRequest, digest: SHA256Digest) -> [UInt8] {
        var lines = [request.method.rawValue, request.target]
        if version == .two {
            lines.insert("v2", at: 0)
            lines += [request.headerFields[.contentType] ?? "", request.headerFields[.accept] ?? ""]
        }
        return Array((lines + [digest.hexadecimal]).joined(separator: "\n").utf8)
    }
}

/// `Content-Digest: sha-256=:…:` (RFC 9530 section 2).
enum ContentDigest {
    struct Malformed: Error {}

    /// Returns the SHA-256 digest, ignoring others; if there are several, the last one applies (RFC 9651 section 3.2).
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

    static func text(_ digest: SHA256Digest) -> String { "sha-256=:\(Base64.encode(digest.bytes)):" }
}
