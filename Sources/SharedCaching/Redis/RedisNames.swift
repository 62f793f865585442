import Crypto

enum RedisNames {
    private static let prefix = "alula:1:"
    static let values = Array((prefix + "v:").utf8)
    static let generations = Array((prefix + "g:").utf8)
    static let everything = Array((prefix + "g").utf8)
    /// The prefix before the label of a tag, or its signature: a set of the sources requested under it.
    static let tags = Array((prefix + "t:").utf8)
    static let log = Array((prefix + "purges").utf8)
    static let channel = Array((prefix + "purged").utf8)
}

extension SharedKey {
    var name: [UInt8] { RedisNames.values + Array(Base64URL.encode(digest).utf8) }
}

extension SharedSource {
    var generationName: [UInt8] { RedisNames.generations + label }
}

/// The set of sources requested under a tag on the server.
///
/// With a key, its name depends on the key, and each member is signed for this tag: members added by other programs or
/// copied from another tag are invalid.
struct RedisTagSet {
    let name: [UInt8]
    /// Signs the members; purges are signed with another key.
    let signer: SharedSigner

    init(of tag: SharedTag, signer: SharedSigner) {
        self.signer = signer.derived(under: tag)
        let label = self.signer.hasKey ? self.signer.textSignature(of: Array("name".utf8)) : tag.label
        name = RedisNames.tags + label
    }
}
