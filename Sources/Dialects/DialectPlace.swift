import Text

/// Where a dialect lies among the paths of the public listener: a prefix such as `/img`, or `/` for all that is not
/// Alula's own.
package struct DialectPlace: Hashable, Sendable {
    /// The prefix as it is set, such as `/img` or `/`.
    package let path: String
    /// The path at which all targets of the dialect begin, without the slash that follows.
    private let prefix: String

    /// The place at `path`; nil unless it is `/`, or begins with a slash and continues with segments that are not
    /// empty.
    package init?(_ path: String) {
        guard path.hasPrefix("/"), path.utf8.allSatisfy({ Self.isAllowed($0) }) else { return nil }
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard path == "/" || segments.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { return nil }
        self.path = path
        prefix = path == "/" ? "" : path
    }

    /// Whether a raw target lies here.
    package func claim(on target: String) -> DialectClaim {
        if prefix.isEmpty { return .remainder }
        return remainder(of: target) == nil ? .none : .certain
    }

    /// The part of a raw target after the prefix, from its slash or question mark on; nil if the target lies elsewhere.
    package func remainder(of target: String) -> Substring? {
        let (bytes, start) = (target.utf8, prefix.utf8)
        guard bytes.starts(with: start) else { return nil }
        let rest = target[bytes.index(bytes.startIndex, offsetBy: start.count)...]
        switch rest.utf8.first {
        case UInt8(ascii: "/"), UInt8(ascii: "?"): return rest
        case nil where !prefix.isEmpty: return rest
        default: return nil
        }
    }

    /// The path of a segment that lies here.
    func path(of segment: String) -> String { "\(prefix)/\(segment)" }

    /// Whether a target could lie at both places, and neither is `/`.
    package func overlaps(_ other: DialectPlace) -> Bool {
        if prefix.isEmpty || other.prefix.isEmpty { return path == other.path }
        return remainder(of: other.path) != nil || other.remainder(of: path) != nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "/-_.~".utf8.contains(byte)
    }
}
