/// Parses external text byte by byte.
///
/// `String` methods that take a `Character` treat `/` followed by a combining mark as one character, which is not `/`,
/// and U+037E as a semicolon. No parser outside Swift does.
extension StringProtocol {
    /// Returns the part before the first of `bytes`, or the whole text if it contains none of them.
    @inlinable public func prefix(before bytes: UInt8...) -> SubSequence {
        self[..<(utf8.firstIndex { bytes.contains($0) } ?? endIndex)]
    }

    @inlinable public func suffix(after byte: UInt8) -> SubSequence? {
        utf8.firstIndex(of: byte).map { self[utf8.index(after: $0)...] }
    }

    /// Returns the part after `prefix`; nil if the text does not begin with its bytes.
    @inlinable public func suffix(after prefix: some StringProtocol) -> SubSequence? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return self[utf8.index(utf8.startIndex, offsetBy: prefix.utf8.count)...]
    }

    /// Maps only ASCII letters; `lowercased()` also maps U+212A to `k`, which turns non-ASCII text into ASCII.
    @inlinable public var asciiLowercased: String { String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }
}

extension BinaryInteger {
    /// The number with a leading zero below ten.
    package var twoDigits: String { self < 10 ? "0\(self)" : "\(self)" }
}

extension Int {
    /// Writes a number of `places` decimals: 1500 with three places is `1.5`.
    ///
    /// - Parameter minimum: The decimals to keep even if they are zeros.
    package func decimal(places: Int, minimum: Int = 0) -> String {
        let one = (0..<places).reduce(1) { unit, _ in 10 * unit }
        var digits = String(self % one + one).dropFirst()
        while digits.utf8.count > minimum, digits.last == "0" { digits.removeLast() }
        return digits.isEmpty ? String(self / one) : "\(self / one).\(digits)"
    }
}

extension String {
    /// Whether all bytes are allowed; several times as fast as iterating over `utf8`.
    @inlinable public func hasOnlyBytes(_ isAllowed: (UInt8) -> Bool) -> Bool {
        let bytes = utf8Span.span
        for index in bytes.indices where !isAllowed(bytes[index]) { return false }
        return true
    }
}

extension UInt8 {
    @inlinable public var isASCIIDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    @inlinable public var isASCIILowercase: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }
    @inlinable public var isASCIIUppercase: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }
    @inlinable public var isASCIILetter: Bool { (self | 0x20).isASCIILowercase }
    @inlinable public var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }
    /// Whether it is a letter, digit or symbol; a space is not visible.
    @inlinable public var isVisibleASCII: Bool { self > 0x20 && self < 0x7f }
    @inlinable public var isPrintableASCII: Bool { self >= 0x20 && self < 0x7f }
    @inlinable public var isASCIIControl: Bool { self < 0x20 || self == 0x7f }
    @inlinable public var isHexadecimalDigit: Bool { hexadecimalValue != nil }

    /// The value of a hexadecimal digit in either case; nil for other characters.
    @inlinable public var hexadecimalValue: UInt8? {
        if isASCIIDigit { return self - UInt8(ascii: "0") }
        let lowercased = self | 0x20
        return UInt8(ascii: "a")...UInt8(ascii: "f") ~= lowercased ? lowercased - UInt8(ascii: "a") + 10 : nil
    }

    @inlinable public var asciiLowercased: UInt8 { isASCIIUppercase ? self | 0x20 : self }
}
