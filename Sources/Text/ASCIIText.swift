/// Reading text from outside byte by byte.
///
/// The methods of `String` that take a `Character` see `/` and a following combining mark as one character, which is
/// not `/`, and U+037E as a semicolon. No parser outside Swift does.
extension StringProtocol {
    /// The part before the first of `bytes`, or all of the text if none of them is in it.
    @inlinable public func prefix(before bytes: UInt8...) -> SubSequence {
        self[..<(utf8.firstIndex { bytes.contains($0) } ?? endIndex)]
    }

    /// The part after the first `byte`; nil if there is none.
    @inlinable public func suffix(after byte: UInt8) -> SubSequence? {
        utf8.firstIndex(of: byte).map { self[utf8.index(after: $0)...] }
    }

    /// The part after `prefix`; nil if the text does not begin with its bytes.
    @inlinable public func suffix(after prefix: some StringProtocol) -> SubSequence? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return self[utf8.index(utf8.startIndex, offsetBy: prefix.utf8.count)...]
    }

    /// The text with the letters A to Z in lower case and all else as it is.
    ///
    /// `lowercased()` makes a `k` of U+212A, and so turns a text outside ASCII into ASCII.
    @inlinable public var asciiLowercased: String {
        String(
            decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
            as: UTF8.self)
    }
}

extension String {
    /// Whether all bytes are allowed; several times as fast as to ask the elements of `utf8`.
    @inlinable public func hasOnlyBytes(_ isAllowed: (UInt8) -> Bool) -> Bool {
        let bytes = utf8Span.span
        for index in bytes.indices where !isAllowed(bytes[index]) { return false }
        return true
    }
}
