import CLibcrypto

/// RFC 2104, computed by OpenSSL's libcrypto.
package enum HMAC {
    package enum Hash: String, CaseIterable, Sendable {
        case sha1, sha256, sha512

        package var byteCount: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }
    }

    package static func authenticationCode(
        for message: some Sequence<UInt8>, key: [UInt8], hash: Hash = .sha256
    ) -> [UInt8] {
        let message = Array(message)
        var code = [UInt8](repeating: 0, count: hash.byteCount)
        var length: UInt32 = 0
        let made = unsafe code.withUnsafeMutableBufferPointer { code in
            unsafe computeHMAC(
                hash, key: key, keyCount: CInt(key.count), message: message, count: message.count,
                code: code.baseAddress, length: &length)
        }
        precondition(made && length == hash.byteCount, "libcrypto cannot compute HMAC")
        return code
    }

    /// Compares in constant time, except for the lengths, which are public.
    package static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        unsafe left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}

private func computeHMAC(
    _ hash: HMAC.Hash, key: UnsafePointer<UInt8>, keyCount: CInt, message: UnsafePointer<UInt8>, count: Int,
    code: UnsafeMutablePointer<UInt8>?, length: UnsafeMutablePointer<UInt32>
) -> Bool {
    let function =
        switch hash {
        case .sha1: unsafe EVP_sha1()
        case .sha256: unsafe EVP_sha256()
        case .sha512: unsafe EVP_sha512()
        }
    return unsafe CLibcrypto.HMAC(function, key, keyCount, message, count, code, length) != nil
}
