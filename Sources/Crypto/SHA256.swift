import CLibcrypto

/// FIPS 180-4, computed by OpenSSL's libcrypto; named as in swift-crypto.
@safe
package struct SHA256: ~Copyable {
    private let context: OpaquePointer
    /// Fetched once, because libcrypto would otherwise look it up for each hash.
    private nonisolated(unsafe) static let algorithm = unsafe EVP_MD_fetch(nil, "SHA256", nil)

    package init() {
        guard let context = unsafe EVP_MD_CTX_new(), unsafe EVP_DigestInit_ex(context, Self.algorithm, nil) == 1
        else {
            fatalError("libcrypto cannot start SHA-256")
        }
        unsafe self.context = context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: RawSpan) {
        _ = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    }

    package consuming func finalize() -> SHA256Digest {
        var bytes = [UInt8](repeating: 0, count: 32)
        _ = unsafe bytes.withUnsafeMutableBufferPointer { unsafe EVP_DigestFinal_ex(context, $0.baseAddress, nil) }
        return SHA256Digest(bytes: bytes)
    }

    package static func hash(_ bytes: RawSpan) -> SHA256Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalize()
    }

    package static func hash(_ text: String) -> SHA256Digest { unsafe hash(Array(text.utf8).span.bytes) }
}

package struct SHA256Digest: Hashable, Sendable {
    package let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Returns nil unless there are 32 bytes.
    package init?(received bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    package var hexadecimal: String { Hexadecimal.encode(bytes) }
}
