import Crypto
import Memory

/// The hash of a key, which reveals nothing about a URL.
package struct SharedKey: Hashable, Sendable {
    /// The hash, 32 bytes.
    let digest: [UInt8]

    package init(of name: [UInt8]) { digest = unsafe SHA256.hash(name.span.bytes).bytes }

    var name: [UInt8] { RedisNames.values + Array(Base64URL.encode(digest).utf8) }
}

package struct SharedSource: Hashable, Sendable {
    static let labelLength = 43

    /// The hash of the source, in 43 letters and digits.
    let label: [UInt8]

    package init(of name: [UInt8]) { label = Array(Base64URL.encode(unsafe SHA256.hash(name.span.bytes).bytes).utf8) }

    init?(label: [UInt8]) {
        guard label.count == Self.labelLength else { return nil }
        self.label = label
    }

    var generationName: [UInt8] { RedisNames.generations + label }
}

package struct SharedTag: Hashable, Sendable {
    package let text: String
    /// The hash of the tag, in 43 letters and digits.
    let label: [UInt8]

    private static let maximumLength = 64

    /// Returns nil if the tag cannot be written; does not check its grammar.
    package init?(_ text: String) {
        guard 1...Self.maximumLength ~= text.utf8.count, !text.utf8.contains(0) else { return nil }
        self.text = text
        let name = Array("tag ".utf8) + text.utf8
        label = Array(Base64URL.encode(unsafe SHA256.hash(name.span.bytes).bytes).utf8)
    }
}

/// The set of sources requested under a tag on the server.
///
/// With a key, its name depends on the key, and each member is sealed for this tag: members added by other programs or
/// copied from another tag are invalid.
struct RedisTagSet {
    let name: [UInt8]
    /// The seal of members; the seal of purges uses another key.
    let signature: SharedSignature

    init(of tag: SharedTag, signature: SharedSignature) {
        self.signature = signature.derived(under: tag)
        let label = self.signature.hasKey ? self.signature.text(of: Array("name".utf8)) : tag.label
        name = RedisNames.tags + label
    }
}

/// The state of a tag before a source was requested under it; see ``SharedStore/checkpoint(of:for:)``.
package struct TagCheckpoint: Sendable {
    let generation: Task<SharedBytes?, any Error>
}

enum RedisNames {
    private static let prefix = "alula:1:"
    static let values = Array((prefix + "v:").utf8)
    static let generations = Array((prefix + "g:").utf8)
    static let everything = Array((prefix + "g").utf8)
    /// The prefix before the label of a tag, or its seal: a set of the sources requested under it.
    static let tags = Array((prefix + "t:").utf8)
    static let log = Array((prefix + "purges").utf8)
    static let channel = Array((prefix + "purged").utf8)
}
