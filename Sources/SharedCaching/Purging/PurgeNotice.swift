import Crypto

/// A purge that all instances are told of.
package struct PurgeNotice: Sendable, Equatable {
    /// Random: tells this purge from all others.
    let id: Generation
    /// The source, by the rules of the instance that was asked.
    package let source: SharedSource
    /// The source as the operator named it: each instance reads the name by its own rules.
    package let name: String

    private static let longestName = 4_096

    /// A new purge; nil if the name is too long for a source.
    init?(_ source: SharedSource, name: String) {
        guard name.utf8.count <= Self.longestName else { return nil }
        id = Generation()
        self.source = source
        self.name = name
    }

    /// A purge as it was written; nil if the bytes are none, or no instance with this seal wrote them.
    init?(_ bytes: [UInt8], _ seal: SharedSeal = SharedSeal()) {
        let start = Generation.length + SharedSource.labelLength
        guard let bytes = seal.words(sealed: bytes), bytes.count >= start, bytes.count <= start + Self.longestName,
            let id = Generation(Array(bytes[..<Generation.length])),
            let source = SharedSource(label: Array(bytes[Generation.length..<start])),
            let name = String(validating: bytes[start...], as: UTF8.self)
        else { return nil }
        self.id = id
        self.source = source
        self.name = name
    }

    /// The purge as bytes.
    func written(_ seal: SharedSeal = SharedSeal()) -> [UInt8] {
        let words = id.text + source.label + Array(name.utf8)
        return words + seal.text(of: words)
    }
}

/// An instance's reactions to purges of others; called on the thread `shared-cache`.
package struct PurgeAudience: Sendable {
    /// A source was purged; called once for each purge.
    let onPurge: @Sendable (PurgeNotice) -> Void
    /// Purges were missed that nobody knows any more.
    let onGap: @Sendable () -> Void
    /// The log of purges has been read up to here.
    let onPosition: @Sendable (_ position: [UInt8]) -> Void

    package init(
        onPurge: @escaping @Sendable (PurgeNotice) -> Void, onGap: @escaping @Sendable () -> Void,
        onPosition: @escaping @Sendable (_ position: [UInt8]) -> Void = { _ in }
    ) {
        self.onPurge = onPurge
        self.onGap = onGap
        self.onPosition = onPosition
    }
}
