import Crypto

/// Signs targets with HMAC-SHA256 of the raw target, appended as the last parameter.
package enum URLSigner {
    package static let codeLength = 32
    private static let mark = Array("&sig=".utf8)

    /// Returns the target, which must have a query, with its signature.
    package static func sign(target: String, key: [UInt8]) -> String {
        "\(target)&sig=\(Base64URL.encode(HMAC.authenticationCode(for: target.utf8, key: key)))"
    }

    /// Returns whether one of the keys signed the target as received, without decoding.
    ///
    /// Tries all keys even after a match and compares in constant time, so that timing reveals nothing.
    package static func verify(target: String, keys: [[UInt8]]) -> Bool { signer(of: target, among: keys) != nil }

    /// Returns the index of the key that signed the target.
    package static func signer(of target: String, among keys: [[UInt8]]) -> Int? {
        let bytes = Array(target.utf8)
        guard let start = lastMark(in: bytes),
            let received = Base64URL.decode(String(decoding: bytes[(start + mark.count)...], as: UTF8.self)),
            received.count == codeLength
        else { return nil }
        var signer: Int?
        for (index, key) in keys.enumerated() {
            let isMatch = HMAC.isEqual(HMAC.authenticationCode(for: bytes[..<start], key: key), received)
            if isMatch { signer = index }
        }
        return signer
    }

    static func checkForm(_ text: String, parameter name: String, isLast: Bool) throws(APIError) {
        guard isLast, Base64URL.decode(text)?.count == codeLength else {
            throw .badParameter(name, "Must be the last parameter and an unpadded base64url HMAC-SHA256.")
        }
    }

    private static func lastMark(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= mark.count else { return nil }
        return (0...(bytes.count - mark.count)).last { bytes[$0..<($0 + mark.count)].elementsEqual(mark) }
    }
}
