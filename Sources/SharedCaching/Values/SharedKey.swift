import Crypto
import Memory

/// The key of a value in the shared cache: a hash, in which nothing of a URL can be read.
package struct SharedKey: Hashable, Sendable {
    /// 32 bytes.
    let digest: [UInt8]

    /// The key that stands for these bytes.
    package init(of name: [UInt8]) {
        digest = unsafe SHA256.hash(name.span.bytes).bytes
    }

    /// The key as the server knows it.
    var name: [UInt8] { TierNames.values + Array(Base64URL.encode(digest).utf8) }
}

/// A source in the shared cache: what its generation is kept under.
package struct SharedSource: Hashable, Sendable {
    /// 43 letters and digits of a hash.
    let label: [UInt8]

    /// The source that these bytes name.
    package init(of name: [UInt8]) {
        label = Array(Base64URL.encode(unsafe SHA256.hash(name.span.bytes).bytes).utf8)
    }

    /// A source by its label, as it comes in a message; nil if it is none.
    init?(label: [UInt8]) {
        guard label.count == Self.labelLength else { return nil }
        self.label = label
    }

    static let labelLength = 43

    /// The key of its generation.
    var generationName: [UInt8] { TierNames.generations + label }
}

/// A tag under which sources are asked for, and the name under which a shared place keeps what is known of it.
package struct SharedTag: Hashable, Sendable {
    /// The tag.
    package let text: String
    /// 43 letters and digits of a hash.
    let label: [UInt8]

    private static let longest = 64

    /// The tag of this text, whose grammar others judge; nil if it cannot be written.
    package init?(_ text: String) {
        guard 1...Self.longest ~= text.utf8.count, !text.utf8.contains(0) else { return nil }
        self.text = text
        let name = Array("tag ".utf8) + text.utf8
        label = Array(Base64URL.encode(unsafe SHA256.hash(name.span.bytes).bytes).utf8)
    }
}

/// The set of sources that were asked for under a tag, on the server.
///
/// With a key, its name depends on the key, and each member is sealed for this tag alone: what others add is no source,
/// and a member of one tag is none of another.
struct TierSet {
    /// The key of the set.
    let name: [UInt8]
    /// The seal of its members; the one of purges has another key.
    let seal: SharedSeal

    /// The set of `tag` among instances with this seal.
    init(of tag: SharedTag, _ seal: SharedSeal) {
        self.seal = seal.derived(for: Array("tag ".utf8) + tag.label)
        let label = self.seal.hasKey ? self.seal.text(of: Array("name".utf8)) : tag.label
        name = TierNames.tags + label
    }
}

/// The state of a tag before a source was asked for under it; see ``SharedValueStore/begin(_:of:)``.
package struct TagBeginning: Sendable {
    /// The tag's generation, which is being asked for.
    let generation: Task<SharedBytes?, any Error>
}

/// The names of Alula's keys on the server; the number changes with the layout of values and of the log.
enum TierNames {
    private static let prefix = "alula:1:"

    /// Before the hash of a value's key.
    static let values = Array((prefix + "v:").utf8)
    /// Before the label of a source.
    static let generations = Array((prefix + "g:").utf8)
    /// The generation of everything.
    static let everything = Array((prefix + "g").utf8)
    /// Before the label of a tag, or its seal: the sources that were asked for under it, a set.
    static let tags = Array((prefix + "t:").utf8)
    /// The log of purges, a stream.
    static let log = Array((prefix + "purges").utf8)
    /// The channel on which purges are published.
    static let channel = Array((prefix + "purged").utf8)
}
