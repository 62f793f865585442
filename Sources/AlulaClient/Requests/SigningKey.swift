import Foundation

/// A key from the service's `signingKeys` setting.
///
/// It must stay on servers that you control; do not ship it in an app or a web page, because anyone who can read it can
/// sign anything.
public struct SigningKey: Sendable {
    private let bytes: [UInt8]

    /// Creates a key from at least 32 bytes; nil if there are fewer.
    public init?(bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        guard self.bytes.count >= 32 else { return nil }
    }

    /// Parses a key as in the setting: at least 64 hexadecimal digits; nil if it is invalid.
    public init?(hexadecimal text: String) {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        self.init(
            bytes: stride(from: 0, to: values.count, by: 2).map { place -> UInt8 in
                UInt8(values[place] << 4 | values[place + 1])
            })
    }

    /// Returns the target with its signature as the last parameter, as printed by `alula sign`.
    public func signed(_ target: String) -> String {
        "\(target)\(target.contains("?") ? "&" : "?")sig=\(signature(of: target))"
    }

    /// Returns the fields that sign a `POST`: `Alula-Signature` (`v2`) and `Content-Digest`.
    func fields(target: String, mediaType: String, accept: String, body: Data) -> [(name: String, value: String)] {
        let digest = SHA256.hash(body)
        let hexadecimal = digest.map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
        let text = ["v2", "POST", target, mediaType, accept, hexadecimal].joined(separator: "\n")
        return [
            ("Alula-Signature", "v2:" + signature(of: text)),
            ("Content-Digest", "sha-256=:\(Data(digest).base64EncodedString()):"),
        ]
    }

    /// Returns the HMAC-SHA256 in base64url without padding.
    private func signature(of text: String) -> String {
        Data(SHA256.authenticationCode(for: Data(text.utf8), key: bytes)).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
