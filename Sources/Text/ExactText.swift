import Glibc

/// External text, compared, hashed and ordered by its bytes.
///
/// Swift compares strings by canonical equivalence: U+212A equals `K`, U+037E equals `;`, and composed letters equal
/// decomposed ones. Origins, signatures and file systems distinguish such texts, so keys from external text must too.
/// `make lint` rejects `String` keys.
public struct ExactText: Hashable, Comparable, Sendable {
    public let string: String

    @inlinable public init(_ string: String) { self.string = string }

    @inlinable public init(_ substring: Substring) { string = String(substring) }

    @inlinable public var utf8: String.UTF8View { string.utf8 }

    public static func == (left: ExactText, right: ExactText) -> Bool { left.string.isExactly(right.string) }

    /// Orders texts by their bytes, which is the order of their Unicode scalars.
    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        let bytes = unsafe string.utf8Span.span.bytes
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        hasher.combine(bytes.byteCount)
    }
}

extension ExactText: ExpressibleByStringInterpolation {
    @inlinable public init(stringLiteral literal: String) { string = literal }
}

extension ExactText: CustomStringConvertible {
    @inlinable public var description: String { string }
}

extension String {
    /// Whether the bytes are equal; `==` also accepts canonically equivalent texts.
    public func isExactly(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let left = utf8Span.span
        let right = other.utf8Span.span
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                guard let start = left.baseAddress, let otherStart = right.baseAddress else { return true }
                return unsafe memcmp(start, otherStart, left.count) == 0
            }
        }
    }
}
