import Text

/// The path of a dialect, such as `/img`, or `/` for all paths that are not Alula's.
package struct PathPrefix: Hashable, Sendable {
    package let path: String
    private let prefix: String

    /// Returns nil unless the path is `/`, or begins with a slash and continues with nonempty segments.
    package init?(_ path: String) {
        guard path.hasPrefix("/"), path.utf8.allSatisfy({ Self.isAllowed($0) }) else { return nil }
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard path == "/" || segments.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { return nil }
        self.path = path
        prefix = path == "/" ? "" : path
    }

    package func match(on target: String) -> DialectMatch {
        if prefix.isEmpty { return .fallback }
        return remainder(of: target) == nil ? .none : .exact
    }

    /// Returns the target from the slash or question mark after the prefix; nil if the prefix does not match.
    package func remainder(of target: String) -> Substring? {
        let bytes = target.utf8
        let start = prefix.utf8
        guard bytes.starts(with: start) else { return nil }
        let rest = target[bytes.index(bytes.startIndex, offsetBy: start.count)...]
        switch rest.utf8.first {
        case UInt8(ascii: "/"), UInt8(ascii: "?"): return rest
        case nil where !prefix.isEmpty: return rest
        default: return nil
        }
    }

    func path(of segment: String) -> String { "\(prefix)/\(segment)" }

    package func overlaps(_ other: PathPrefix) -> Bool {
        if prefix.isEmpty || other.prefix.isEmpty { return path == other.path }
        return remainder(of: other.path) != nil || other.remainder(of: path) != nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool { byte.isASCIIAlphanumeric || "/-_.~".utf8.contains(byte) }
}
