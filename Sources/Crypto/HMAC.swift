import CLibcrypto

/// HMAC-SHA256 (RFC 2104), computed by OpenSSL's libcrypto.
package enum HMAC {
    /// The 32-byte authentication code of `message` under `key`.
    package static func authenticationCode(for message: some Sequence<UInt8>, key: [UInt8]) -> [UInt8] {
        let message = Array(message)
        var code = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let made = unsafe code.withUnsafeMutableBufferPointer { code in
            unsafe computeHMAC(key, CInt(key.count), message, message.count, code.baseAddress, &length)
        }
        precondition(made && length == 32, "libcrypto cannot compute HMAC-SHA256")
        return code
    }

    /// Compares two codes in constant time; lengths are public.
    package static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        unsafe left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}

private func computeHMAC(
    _ key: UnsafePointer<UInt8>, _ keyCount: CInt, _ message: UnsafePointer<UInt8>, _ count: Int,
    _ code: UnsafeMutablePointer<UInt8>?, _ length: UnsafeMutablePointer<UInt32>
) -> Bool {
    unsafe CLibcrypto.HMAC(EVP_sha256(), key, keyCount, message, count, code, length) != nil
}
