import Crypto
package import Text

package enum CacheTag {
    package static let maximumCount = 8
    package static let maximumLength = 64
    package static let form = "Must have 1 to \(maximumLength) letters, digits, points, hyphens and underscores."
    package static let listForm =
        "Must be 1 to \(maximumCount) tags with commas between them, each of 1 to \(maximumLength) letters, digits, points, hyphens and underscores."

    package static func isTag(_ text: some StringProtocol) -> Bool {
        1...maximumLength ~= text.utf8.count && text.utf8.allSatisfy(isAllowed)
    }

    /// Removes duplicates; nil if the list is empty or too long, or has an invalid tag.
    package static func list(_ text: String) -> [ExactText]? {
        let parts = text.split(separator: ",", maxSplits: maximumCount, omittingEmptySubsequences: false)
        guard parts.count <= maximumCount, parts.allSatisfy(isTag) else { return nil }
        return parts.reduce(into: []) { tags, part in
            let tag = ExactText(part)
            if !tags.contains(tag) { tags.append(tag) }
        }
    }

    /// The tag of all responses made from the source: `s-`, and the first 16 hexadecimal digits of the SHA-256 of the
    /// source as operators name it.
    package static func ofSource(named name: String) -> String {
        let name = Array(name.utf8)
        let digest = unsafe SHA256.hash(name.span.bytes)
        return "s-" + digest.hexadecimal.prefix(16)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool { byte.isASCIIAlphanumeric || "._-".utf8.contains(byte) }
}
