package struct TagRemoval: Sendable {
    let tag: SharedTag
    /// Called with the sources under the tag, and whether the list is complete; on any thread, so it must be fast.
    let onSources: @Sendable (_ sources: [NamedSource], _ isComplete: Bool) -> Void

    package init(
        of tag: SharedTag, onSources: @escaping @Sendable (_ sources: [NamedSource], _ isComplete: Bool) -> Void
    ) {
        self.tag = tag
        self.onSources = onSources
    }
}

/// Limits the sources that a purge by tag removes: each is removed separately, and all instances receive its name.
package struct TagRemovalLimit: Sendable {
    package static let maximumSources = 100_000
    static let maximumMemberBytes = 8 << 10
    /// The maximum length of all names, which fill half as many notices as the purge log keeps.
    static let maximumBytes = 8 << 20

    private var sources = 0
    private var bytes = 0

    package init() {}

    /// Returns false if a source with this name exceeds the limit.
    package mutating func admit(_ name: String) -> Bool {
        guard sources < Self.maximumSources, bytes + name.utf8.count + SharedSource.labelLength < Self.maximumBytes
        else {
            return false
        }
        sources += 1
        bytes += name.utf8.count + SharedSource.labelLength + 1
        return true
    }
}

struct TaggedSources {
    private(set) var sources: Set<NamedSource> = []
    private(set) var isComplete = true
    private var limit = TagRemovalLimit()
    private var readBytes = 0
    private var notices: [PurgeNotice] = []

    /// Limits the members read, even unsigned ones: anyone with access to the server can add any number of members.
    private static let maximumBytes = 64 << 20
    /// The minimum size for which a member counts.
    private static let minimumBytes = 64

    /// Adds a page of members; nil stands for a member that is too long.
    ///
    /// - Parameter signer: Members with another signature are skipped and do not count.
    mutating func add(_ page: [[UInt8]?], signedBy signer: SharedSigner) {
        for member in page {
            readBytes += max(Self.minimumBytes, member?.count ?? TagRemovalLimit.maximumMemberBytes)
            guard let member, let source = signer.payload(signed: member).flatMap({ NamedSource($0) }),
                !sources.contains(source)
            else { continue }
            guard limit.admit(source.name) else { return markIncomplete() }
            sources.insert(source)
        }
        if readBytes > Self.maximumBytes { markIncomplete() }
    }

    mutating func markIncomplete() { isComplete = false }

    /// Returns the notices, which are the same in each call.
    ///
    /// The tag comes last: an instance that receives it has already removed these sources, and searches for others.
    mutating func notices(for tag: SharedTag) -> [PurgeNotice] {
        if notices.isEmpty { notices = PurgeNotice.notices(of: Array(sources)) + [PurgeNotice(.tag(tag))] }
        return notices
    }
}
