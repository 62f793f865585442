package import Text

/// A place for a result, as a caller names it: `NAME:PATH` below a named origin that takes writes.
package struct Destination: Sendable {
    /// Why nothing can be put there.
    package enum Refusal: Error, Equatable {
        /// The origin is not there, or takes no writes.
        case notWritable
        /// The text names no file or object below an origin.
        case malformed
    }

    /// The folder that the service keeps for itself below an origin.
    static let ownFolder = "alula-1"
    private static let longestPath = 1_024
    private static let longestSegment = 255

    /// The place, in the spelling by which it is asked for as a source.
    package var location: String { identity.name }
    /// The value of `Cache-Control` of what is put there; nil for that of the result.
    package var cacheControl: String?
    let identity: SourceIdentity
    let origin: Origin

    /// The place that `text` names, which is not outside of its origin in any spelling, and none of the service's own.
    ///
    /// The origin is judged first, so that the same is said of all that there is not.
    package init(_ text: ExactText, among origins: Origins) throws(Refusal) {
        guard let path = text.string.suffix(after: UInt8(ascii: ":")) else { throw .malformed }
        let name = text.string.prefix(before: UInt8(ascii: ":"))
        guard let origin = origins[String(name)], origin.isWritable else { throw .notWritable }
        guard path.utf8.count <= Self.longestPath, !path.utf8.contains(UInt8(ascii: "?")),
            !path.utf8.contains(UInt8(ascii: "#")), let identity = try? origin.identity(of: path)
        else { throw .malformed }
        guard Self.isPath(path.suffix(after: "/") ?? path, in: origin) else { throw .malformed }
        self.identity = identity
        self.origin = origin
        cacheControl = origin.cacheControl
    }

    /// Whether names lead to the place, in every spelling.
    private static func isPath(_ path: Substring, in origin: Origin) -> Bool {
        let decoded = URLEscapes.decoded(path)
        // Names of files stand as they are, broken escapes too; a program that decodes them must not be led elsewhere.
        guard case .folder = origin.place else { return decoded.map(isPath) ?? false }
        return isPath(Array(path.utf8)) && decoded.map(isPath) ?? true
    }

    private static func isPath(_ bytes: [UInt8]) -> Bool {
        bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy(isName)
    }

    private static func isName(_ segment: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: segment, as: UTF8.self)
        return 1...longestSegment ~= segment.count && text != "." && text != ".."
            && text.asciiLowercased != ownFolder && String(validating: segment, as: UTF8.self) != nil
            && segment.allSatisfy { $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "\\") }
    }
}
