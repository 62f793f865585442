import Crypto

/// The hash of a key, which reveals nothing about a URL.
package struct SharedKey: Hashable, Sendable {
    /// The hash, 32 bytes.
    let digest: [UInt8]

    package init(of name: [UInt8]) { digest = unsafe SHA256.hash(name.span.bytes).bytes }
}
