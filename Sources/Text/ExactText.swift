import Glibc

/// Text from outside, compared, hashed and ordered by its bytes.
///
/// Swift's strings are equal when Unicode calls them canonically equivalent: U+212A equals `K`, U+037E equals `;`, and
/// the composed spelling of a letter equals the decomposed one. Origins, signatures and file systems tell such texts
/// apart, so a key made of text from outside must do so too. Dictionaries, sets and memos of the service are keyed by
/// this type; `make lint` refuses those that are keyed by `String`.
public struct ExactText: Hashable, Comparable, Sendable {
    /// The text as a String, whose own comparison is not by bytes.
    public let string: String

    /// The text of `string`, byte for byte.
    @inlinable public init(_ string: String) {
        self.string = string
    }

    /// The text of `substring`, byte for byte.
    @inlinable public init(_ substring: Substring) {
        string = String(substring)
    }

    /// The bytes in UTF-8.
    @inlinable public var utf8: String.UTF8View { string.utf8 }

    /// Whether both texts have the same bytes.
    public static func == (left: ExactText, right: ExactText) -> Bool { left.string.isExactly(right.string) }

    /// Orders texts by their bytes, which is the order of their Unicode scalars.
    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        let bytes = unsafe string.utf8Span.span.bytes
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        hasher.combine(bytes.byteCount)
    }
}

extension ExactText: ExpressibleByStringInterpolation {
    /// The text of a literal.
    @inlinable public init(stringLiteral literal: String) {
        string = literal
    }
}

extension ExactText: CustomStringConvertible {
    /// The same as ``string``.
    @inlinable public var description: String { string }
}

extension String {
    /// Whether both texts have the same bytes; `==` also takes canonically equivalent ones for equal.
    public func isExactly(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let (left, right) = (utf8Span.span, other.utf8Span.span)
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                guard let start = left.baseAddress, let otherStart = right.baseAddress else { return true }
                return unsafe memcmp(start, otherStart, left.count) == 0
            }
        }
    }
}
