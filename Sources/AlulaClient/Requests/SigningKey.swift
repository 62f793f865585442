import Foundation

/// A key from the service's `signingKeys` setting.
///
/// Keep it on servers that you control. Do not ship it in an app or a web page: anyone who can read it can sign any
/// request.
public struct SigningKey: Sendable {
    private let bytes: [UInt8]
    private let id: String?

    /// Creates a key from at least 32 bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the key.
    ///   - id: The ID of a tenant's key; nil for a key of `signingKeys`.
    /// - Throws: ``ClientError/invalidSigningKey`` if there are fewer, or if the ID is not one of the settings file.
    public init(bytes: some Sequence<UInt8>, id: String? = nil) throws(ClientError) {
        self.bytes = Array(bytes)
        self.id = id
        let isValid = id.map { id in
            (1...64).contains(id.utf8.count)
                && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
        }
        guard self.bytes.count >= 32, isValid != false else { throw .invalidSigningKey }
    }

    /// Parses a key as in the setting: at least 64 hexadecimal digits.
    ///
    /// - Parameters:
    ///   - text: The digits of the key.
    ///   - id: The ID of a tenant's key; nil for a key of `signingKeys`.
    /// - Throws: ``ClientError/invalidSigningKey`` if there are fewer, or other characters, such as a line feed.
    public init(hexadecimal text: String, id: String? = nil) throws(ClientError) {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { throw .invalidSigningKey }
        let values = digits.compactMap { $0 }
        try self.init(
            bytes: stride(from: 0, to: values.count, by: 2).map { place -> UInt8 in
                UInt8(values[place] << 4 | values[place + 1])
            }, id: id)
    }

    /// Returns the target with its signature as the last parameter, as printed by `alula sign`.
    public func signed(_ target: String) -> String {
        let target = named(target)
        return "\(target)\(target.contains("?") ? "&" : "?")sig=\(signature(of: target))"
    }

    /// The target with the ID of the key.
    func named(_ target: String) -> String {
        id.map { "\(target)\(target.contains("?") ? "&" : "?")key=\($0)" } ?? target
    }

    /// Returns the fields that sign a `POST`: `Alula-Signature` (`v2`) and `Content-Digest`.
    ///
    /// - Parameters:
    ///   - target: Path and query.
    ///   - mediaType: The field `Content-Type`.
    ///   - accept: The field `Accept`.
    ///   - digest: The SHA-256 of the body.
    func fields(target: String, mediaType: String, accept: String, digest: [UInt8]) -> [(name: String, value: String)] {
        let text = ["v2", "POST", target, mediaType, accept, digest.hexadecimal].joined(separator: "\n")
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
