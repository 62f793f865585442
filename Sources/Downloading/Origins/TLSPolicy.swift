import Crypto

/// Requirements for a TLS server besides a valid certificate for its host name.
package enum TLSPolicy: Sendable, Hashable {
    case none
    /// One of these certificates anywhere in the verified chain; an empty set rejects all.
    case certificate(Set<Pin>)
    /// One of these public keys anywhere in the verified chain; an empty set rejects all.
    case publicKey(Set<Pin>)

    /// The SHA-256 of a certificate, or of a certificate's public key (RFC 7469 section 2.4).
    package struct Pin: Sendable, Hashable {
        package let digest: [UInt8]

        package init(der: [UInt8]) {
            digest = unsafe SHA256.hash(der.span.bytes).bytes
        }

        /// Parses `sha256/` and the digest in base64; nil for anything else.
        package init?(_ text: String) {
            let prefix = "sha256/"
            guard text.hasPrefix(prefix), let digest = Base64.decode(text.dropFirst(prefix.count)), digest.count == 32
            else { return nil }
            self.digest = digest
        }
    }
}
