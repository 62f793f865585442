import Crypto

/// Signs values and purges, so that instances know their own.
///
/// Without a key, the signature of a value is a plain hash, which anyone with write access to the server can compute.
/// With a key, it is an HMAC-SHA256, which only instances with the same key can compute.
struct SharedSigner: Sendable {
    private let key: [UInt8]?

    /// The length of a value's signature in bytes.
    static let length = 32
    /// The length in bytes for a purge, or for a source under a tag.
    private static let noticeLength = 43

    var hasKey: Bool { key != nil }

    init(key: [UInt8]? = nil) { self.key = key }

    /// Returns a signer with a key derived from this one; without a key, returns this signer.
    func derived(under tag: SharedTag) -> SharedSigner {
        SharedSigner(key: key.map { HMAC.authenticationCode(for: "tag ".utf8 + tag.label, key: $0) })
    }

    func signature(of digest: SHA256Digest) -> [UInt8] {
        key.map { HMAC.authenticationCode(for: digest.bytes, key: $0) } ?? digest.bytes
    }

    /// Returns the signature in 43 letters and digits; empty without a key.
    ///
    /// The payload is longer than a hash, so the signature of a value is never valid for a purge.
    func textSignature(of payload: [UInt8]) -> [UInt8] {
        key.map { Array(Base64URL.encode(HMAC.authenticationCode(for: payload, key: $0)).utf8) } ?? []
    }

    /// Returns the payload without its signature; nil if the signature is invalid.
    func payload(signed bytes: [UInt8]) -> [UInt8]? {
        guard key != nil else { return bytes }
        let payload = Array(bytes.dropLast(Self.noticeLength))
        return HMAC.isEqual(Array(bytes.suffix(Self.noticeLength)), textSignature(of: payload)) ? payload : nil
    }
}

extension SharedCacheCredentials {
    var signer: SharedSigner { SharedSigner(key: key) }
}
