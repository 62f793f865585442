import Text

package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes digits of either case; returns nil for an odd number of digits or other characters.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index].hexadecimalValue, let low = digits[index + 1].hexadecimalValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values = Base64Digits.values(in: alphabet)

    package static func encode(_ bytes: [UInt8]) -> String {
        Base64Digits.encode(bytes, alphabet: alphabet, isPadded: true)
    }

    /// Decodes canonical text with padding; returns nil for any other text.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard text.utf8.count.isMultiple(of: 4), padding <= 2 else { return nil }
        return Base64Digits.decode(text.utf8.dropLast(padding), values: values)
    }
}

/// Base64 without padding (RFC 4648 section 5).
package enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let values = Base64Digits.values(in: alphabet)

    package static func encode(_ bytes: [UInt8]) -> String {
        Base64Digits.encode(bytes, alphabet: alphabet, isPadded: false)
    }

    /// Decodes canonical text: without padding, with unused bits of zero; returns nil for any other text.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        Base64Digits.decode(text.utf8, values: values)
    }
}

private enum Base64Digits {
    private static let none = UInt8.max

    /// Returns the value of each byte; ``none`` for bytes that are not digits.
    static func values(in alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: none, count: 256)
        for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }

    /// Returns nil for padding, other characters, and unused bits that are not zero.
    static func decode(_ digits: some Collection<UInt8>, values: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        for digit in digits {
            let value = values[Int(digit)]
            guard value != none else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
                bits &= (1 << UInt32(count)) - 1
            }
        }
        return count < 6 && bits == 0 ? bytes : nil
    }

    static func encode(_ bytes: [UInt8], alphabet: [UInt8], isPadded: Bool) -> String {
        unsafe String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
            var count = 0
            func append(_ bits: UInt32, digits: Int) {
                for index in 0..<digits {
                    unsafe text[count] = alphabet[Int(bits >> UInt32(18 - 6 * index)) & 63]
                    count += 1
                }
            }
            var index = 0
            while index + 2 < bytes.count {
                append(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]), digits: 4)
                index += 3
            }
            switch bytes.count - index {
            case 1: append(UInt32(bytes[index]) << 16, digits: 2)
            case 2: append(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8, digits: 3)
            default: break
            }
            while isPadded, !count.isMultiple(of: 4) {
                unsafe text[count] = UInt8(ascii: "=")
                count += 1
            }
            return count
        }
    }
}
