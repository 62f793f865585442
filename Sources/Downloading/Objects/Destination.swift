package import Text

package struct Destination: Sendable {
    package enum Rejection: Error, Equatable {
        case notWritable
        /// The text is not the path of a file or object below an origin.
        case malformed
    }

    /// The folder reserved for the service below an origin.
    static let ownFolder = "alula-1"
    private static let longestPath = 1_024
    private static let longestSegment = 255

    /// `Cache-Control` of stored objects; nil uses the result's.
    package var cacheControl: String?
    let identity: SourceIdentity
    let origin: Origin

    package var location: String { identity.name }

    /// Rejects paths that leave the origin, escaped or not, and paths in `alula-1/`.
    ///
    /// Checks the origin first, so that the error does not depend on the path if the origin does not exist.
    package init(_ text: ExactText, among rules: DownloadRules) throws(Rejection) {
        guard let path = text.string.suffix(after: UInt8(ascii: ":")) else { throw .malformed }
        let name = text.string.prefix(before: UInt8(ascii: ":"))
        guard let rules = rules[String(name)], let origin = rules.origin, origin.isWritable else { throw .notWritable }
        guard path.utf8.count <= Self.longestPath, !path.utf8.contains(UInt8(ascii: "?")),
            !path.utf8.contains(UInt8(ascii: "#")), let identity = try? rules.identity(of: path)
        else { throw .malformed }
        guard Self.isPath(path.suffix(after: "/") ?? path, in: origin) else { throw .malformed }
        self.identity = identity
        self.origin = origin
        cacheControl = origin.cacheControl
    }

    private static func isPath(_ path: Substring, in origin: Origin) -> Bool {
        let decoded = URLEscape.decode(path.utf8)
        // File names are literal, including invalid escapes. Decoding them must not lead outside the origin either.
        guard case .folder = origin.location else { return decoded.map(isPath) ?? false }
        return isPath(Array(path.utf8)) && decoded.map(isPath) ?? true
    }

    private static func isPath(_ bytes: [UInt8]) -> Bool {
        bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy(isName)
    }

    private static func isName(_ segment: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: segment, as: UTF8.self)
        return 1...longestSegment ~= segment.count && text != "." && text != ".."
            && text.asciiLowercased != ownFolder && String(validating: segment, as: UTF8.self) != nil
            && segment.allSatisfy { !$0.isASCIIControl && $0 != UInt8(ascii: "\\") }
    }
}
