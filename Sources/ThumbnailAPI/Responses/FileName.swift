import Dialects
import Recipes
import Text
import ThumbnailPipeline
import ThumbnailTypes

package struct FileName: Sendable, Equatable {
    private static let longest = 100
    private let plain: String
    private let extended: String?
    private let isAttachment: Bool

    init(of request: Request) {
        let form = request.form
        guard let name = form.fileName else {
            self.init(source: request.source.string, isAttachment: form.isAttachment)
            return
        }
        self.init(stem: name.string.unicodeScalars, isAttachment: form.isAttachment)
    }

    /// Creates a name from the last path segment of a source, without query, fragment and extension.
    ///
    /// Removes characters that could end the header field, are special to file systems, or deceive a reader.
    package init(source: String, isAttachment: Bool = false) {
        let segment = Self.lastSegment(of: Array(source.utf8))
        let decoded = URLEscape.decodeText(segment) ?? String(decoding: segment, as: UTF8.self)
        self.init(stem: Self.withoutExtension(decoded.unicodeScalars), isAttachment: isAttachment)
    }

    private init(stem: some Sequence<Unicode.Scalar>, isAttachment: Bool) {
        self.isAttachment = isAttachment
        let kept = stem.prefix(Self.longest).filter(Self.isHarmless)
        let ascii = kept.map { $0.isASCII ? UInt8(ascii: $0) : UInt8(ascii: "_") }
        plain = ascii.contains(where: Self.isLetterOrDigit) ? String(decoding: ascii, as: UTF8.self) : "image"
        let hasMore = kept.contains { !$0.isASCII }
        extended = hasMore ? URLEscape.encode(String(String.UnicodeScalarView(kept))) : nil
    }

    /// The name without extension; `image` if it is empty.
    package var stem: String { extended.flatMap { URLEscape.decodeText($0.utf8) } ?? plain }

    /// Returns the field's value; a non-ASCII name is also encoded as in RFC 8187.
    func contentDisposition(_ format: ImageFormat) -> String {
        let fileExtension = format.fileExtension
        let value = "\(isAttachment ? "attachment" : "inline"); filename=\"\(plain).\(fileExtension)\""
        return extended.map { "\(value); filename*=UTF-8''\($0).\(fileExtension)" } ?? value
    }

    private static func lastSegment(of source: [UInt8]) -> ArraySlice<UInt8> {
        var path = source.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if let colon = path.firstIndex(of: UInt8(ascii: ":")) {
            path = path[(colon + 1)...]
            if path.starts(with: "//".utf8) {
                guard let slash = path.dropFirst(2).firstIndex(of: UInt8(ascii: "/")) else { return [] }
                path = path[slash...]
            }
        }
        return path.lastIndex(of: UInt8(ascii: "/")).map { path[($0 + 1)...] } ?? path
    }

    private static func withoutExtension(_ name: String.UnicodeScalarView) -> [Unicode.Scalar] {
        let scalars = Array(name.drop { $0 == "." || $0 == " " })
        guard let dot = scalars.lastIndex(of: "."), dot > 0 else { return scalars }
        return Array(scalars[..<dot])
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool { byte.isASCIIAlphanumeric }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", " ", "(", ")", "+", ",", "=", "@", "!": return true
        default: break
        }
        guard !scalar.isASCII else { return false }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber, .letterNumber, .otherNumber:
            return true
        default: return false
        }
    }
}
