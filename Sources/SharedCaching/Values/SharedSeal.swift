import Crypto

/// Proves that a value from the server was written by an instance.
///
/// Without a key it is a plain hash, which anybody who can write to the server can make as well. With one it is an
/// HMAC-SHA256, which only instances with the same key can make.
struct SharedSeal: Sendable {
    private let key: [UInt8]?

    /// Bytes of a seal.
    static let length = 32
    /// Bytes of the seal of a purge, or of a source under a tag.
    private static let noticeLength = 43

    /// Whether only instances with the same key can seal.
    var hasKey: Bool { key != nil }

    /// Seals with this key, or without one.
    init(key: [UInt8]? = nil) {
        self.key = key
    }

    /// A seal with a key of its own that this one's key gives; without a key, the same.
    func derived(for name: [UInt8]) -> SharedSeal {
        SharedSeal(key: key.map { HMAC.authenticationCode(for: name, key: $0) })
    }

    /// The seal of a value whose bytes before it have this hash.
    func seal(of digest: SHA256Digest) -> [UInt8] {
        key.map { HMAC.authenticationCode(for: digest.bytes, key: $0) } ?? digest.bytes
    }

    /// The seal of the words of a purge, as 43 letters and digits; empty without a key.
    ///
    /// The words are longer than a hash, so that no seal of a value is one of a purge.
    func text(of words: [UInt8]) -> [UInt8] {
        key.map { Array(Base64URL.encode(HMAC.authenticationCode(for: words, key: $0)).utf8) } ?? []
    }

    /// Takes the seal from the end of a purge; nil if it is not the one of the words before it.
    func words(sealed bytes: [UInt8]) -> [UInt8]? {
        guard key != nil else { return bytes }
        let words = Array(bytes.dropLast(Self.noticeLength))
        return HMAC.isEqual(Array(bytes.suffix(Self.noticeLength)), text(of: words)) ? words : nil
    }
}

extension SharedCacheCredentials {
    /// The seal of values and purges.
    var seal: SharedSeal { SharedSeal(key: key) }
}
