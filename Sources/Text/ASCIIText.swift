/// Parses external text byte by byte.
///
/// `String` methods that take a `Character` treat `/` followed by a combining mark as one character, which is not `/`,
/// and U+037E as a semicolon. No parser outside Swift does.
extension StringProtocol {
    /// Returns the part before the first of `bytes`, or the whole text if it contains none of them.
    @inlinable public func prefix(before bytes: UInt8...) -> SubSequence {
        self[..<(utf8.firstIndex { bytes.contains($0) } ?? endIndex)]
    }

    /// Returns the part after the first `byte`; nil if there is none.
    @inlinable public func suffix(after byte: UInt8) -> SubSequence? {
        utf8.firstIndex(of: byte).map { self[utf8.index(after: $0)...] }
    }

    /// Returns the part after `prefix`; nil if the text does not begin with its bytes.
    @inlinable public func suffix(after prefix: some StringProtocol) -> SubSequence? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return self[utf8.index(utf8.startIndex, offsetBy: prefix.utf8.count)...]
    }

    /// The text with the letters A to Z in lowercase and all else unchanged.
    ///
    /// `lowercased()` maps U+212A to `k`, and so turns non-ASCII text into ASCII.
    @inlinable public var asciiLowercased: String {
        String(
            decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
            as: UTF8.self)
    }
}

extension String {
    /// Returns whether all bytes are allowed; several times as fast as iterating over `utf8`.
    @inlinable public func hasOnlyBytes(_ isAllowed: (UInt8) -> Bool) -> Bool {
        let bytes = utf8Span.span
        for index in bytes.indices where !isAllowed(bytes[index]) { return false }
        return true
    }
}
