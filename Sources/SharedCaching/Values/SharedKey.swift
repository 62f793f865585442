import Crypto
import Memory

/// The key of a value in the shared cache: a hash, which reveals nothing of a URL.
package struct SharedKey: Hashable, Sendable {
    /// 32 bytes.
    let digest: [UInt8]

    /// Hashes a name.
    package init(of name: [UInt8]) {
        digest = unsafe SHA256.hash(name.span.bytes).bytes
    }

    /// The key on the server.
    var name: [UInt8] { RedisNames.values + Array(Base64URL.encode(digest).utf8) }
}

/// A source in the shared cache, which identifies its generation.
package struct SharedSource: Hashable, Sendable {
    /// A hash in 43 letters and digits.
    let label: [UInt8]

    /// Hashes a name.
    package init(of name: [UInt8]) {
        label = Array(Base64URL.encode(unsafe SHA256.hash(name.span.bytes).bytes).utf8)
    }

    /// Parses the label of a source from a message; nil if it is invalid.
    init?(label: [UInt8]) {
        guard label.count == Self.labelLength else { return nil }
        self.label = label
    }

    static let labelLength = 43

    var generationName: [UInt8] { RedisNames.generations + label }
}

/// A tag under which sources are requested, and its name in a shared place.
package struct SharedTag: Hashable, Sendable {
    package let text: String
    /// A hash in 43 letters and digits.
    let label: [UInt8]

    private static let longest = 64

    /// Creates a tag, whose grammar is checked elsewhere; nil if it cannot be written.
    package init?(_ text: String) {
        guard 1...Self.longest ~= text.utf8.count, !text.utf8.contains(0) else { return nil }
        self.text = text
        let name = Array("tag ".utf8) + text.utf8
        label = Array(Base64URL.encode(unsafe SHA256.hash(name.span.bytes).bytes).utf8)
    }
}

/// The set of sources requested under a tag, on the server.
///
/// With a key, its name depends on the key, and each member is sealed for this tag alone: members added by others are
/// invalid, and a member of one tag is invalid for another.
struct RedisTagSet {
    let name: [UInt8]
    /// The seal of its members; the seal of purges has another key.
    let seal: SharedSeal

    init(of tag: SharedTag, _ seal: SharedSeal) {
        self.seal = seal.ofSources(under: tag)
        let label = self.seal.hasKey ? self.seal.text(of: Array("name".utf8)) : tag.label
        name = RedisNames.tags + label
    }
}

/// The state of a tag before a source was requested under it; see ``SharedStore/begin(_:of:)``.
package struct TagBeginning: Sendable {
    /// The tag's generation, which is being queried.
    let generation: Task<SharedBytes?, any Error>
}

/// The names of Alula's keys on the server; the number changes with the layout of values and of the log.
enum RedisNames {
    private static let prefix = "alula:1:"

    /// Prefix of the hash of a value's key.
    static let values = Array((prefix + "v:").utf8)
    /// Prefix of the label of a source.
    static let generations = Array((prefix + "g:").utf8)
    /// The generation of everything.
    static let everything = Array((prefix + "g").utf8)
    /// Prefix of the label of a tag, or its seal: a set of the sources requested under it.
    static let tags = Array((prefix + "t:").utf8)
    /// The log of purges, a stream.
    static let log = Array((prefix + "purges").utf8)
    /// The channel on which purges are published.
    static let channel = Array((prefix + "purged").utf8)
}
