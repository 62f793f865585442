import Crypto
package import Text

/// The tags under which answers and sources are purged.
package enum CacheTag {
    /// Most tags of one request.
    package static let most = 8
    /// The longest tag, in bytes.
    package static let longest = 64
    /// A tag, in words.
    package static let form = "Must have 1 to \(longest) letters, digits, points, hyphens and underscores."
    /// A list of tags, in words.
    package static let listForm =
        "Must be 1 to \(most) tags with commas between them, each of 1 to \(longest) letters, digits, points, hyphens and underscores."

    /// Whether a text is a tag.
    package static func isTag(_ text: some StringProtocol) -> Bool {
        1...longest ~= text.utf8.count && text.utf8.allSatisfy(isAllowed)
    }

    /// The tags of a list, each once, with commas between them; nil if there are none or too many, or one is none.
    package static func list(_ text: String) -> [ExactText]? {
        let parts = text.split(separator: ",", maxSplits: most, omittingEmptySubsequences: false)
        guard parts.count <= most, parts.allSatisfy(isTag) else { return nil }
        return parts.reduce(into: []) { tags, part in
            let tag = ExactText(part)
            if !tags.contains(tag) { tags.append(tag) }
        }
    }

    /// The tag of a source, which all answers with it have: `s-`, and the first 16 hexadecimal digits of the SHA-256 of
    /// the source as operators name it.
    package static func ofSource(named name: String) -> String {
        let name = Array(name.utf8)
        let digest = unsafe SHA256.hash(name.span.bytes)
        return "s-" + digest.hexadecimal.prefix(16)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
