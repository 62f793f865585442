import Crypto

/// Proves that an instance wrote a value on the server.
///
/// Without a key it is a plain hash, which anyone with write access to the server can compute. With a key it is an
/// HMAC-SHA256, which only instances with the same key can compute.
struct SharedSignature: Sendable {
    private let key: [UInt8]?

    /// The length of a value's signature in bytes.
    static let length = 32
    /// The length in bytes for a purge, or for a source under a tag.
    private static let noticeLength = 43

    var hasKey: Bool { key != nil }

    init(key: [UInt8]? = nil) { self.key = key }

    /// Returns a seal with a key derived from this one; without a key, returns this seal.
    func derived(under tag: SharedTag) -> SharedSignature {
        SharedSignature(key: key.map { HMAC.authenticationCode(for: "tag ".utf8 + tag.label, key: $0) })
    }

    func signature(of digest: SHA256Digest) -> [UInt8] {
        key.map { HMAC.authenticationCode(for: digest.bytes, key: $0) } ?? digest.bytes
    }

    /// Returns the seal in 43 letters and digits; empty without a key.
    ///
    /// The words are longer than a hash, so the seal of a value is never valid for a purge.
    func text(of words: [UInt8]) -> [UInt8] {
        key.map { Array(Base64URL.encode(HMAC.authenticationCode(for: words, key: $0)).utf8) } ?? []
    }

    /// Returns the words of a purge without its seal; nil if the seal is invalid.
    func words(signed bytes: [UInt8]) -> [UInt8]? {
        guard key != nil else { return bytes }
        let words = Array(bytes.dropLast(Self.noticeLength))
        return HMAC.isEqual(Array(bytes.suffix(Self.noticeLength)), text(of: words)) ? words : nil
    }
}

extension SharedCacheCredentials {
    var signature: SharedSignature { SharedSignature(key: key) }
}
