import Coordination

/// Removals that are sent until the server confirms them; a plain value that drops none while there is room.
struct PendingRemovals {
    enum Removal {
        case forget([SharedSource])
        /// Removes sources, and notifies all other instances.
        case purge([PurgeNotice])
        case tagged(TagRemoval)
        /// Removes everything, and notifies all other instances if an operator requested it.
        case everything(PurgeNotice? = nil)

        var notices: [PurgeNotice] {
            switch self {
            case .purge(let notices): notices
            case .everything(let notice): notice.map { [$0] } ?? []
            case .forget, .tagged: []
            }
        }
    }

    struct Entry {
        let number: Int
        let removal: Removal
        let promise: Promise<RemovalState>?
        var isSent = false
        /// The sources under a tag, once they are known, or the part of their list that was readable.
        var tagged: TaggedSources?
    }

    private(set) var entries: [Entry] = []
    private var lastNumber = 0

    static let capacity = 4_096

    var isEmpty: Bool { entries.isEmpty }

    func affects(_ sources: [SharedSource]) -> Bool {
        entries.contains { entry in
            switch entry.removal {
            case .forget(let removed): removed.contains(where: sources.contains)
            case .purge(let notices): notices.contains { $0.sources.contains(where: sources.contains) }
            // The sources are not known yet.
            case .tagged, .everything: true
            }
        }
    }

    /// Adds a removal; returns false if too many are pending.
    ///
    /// If a removal without a waiting caller has too many sources, everything is removed instead; there is always room
    /// for that.
    mutating func add(_ removal: Removal, fulfilling promise: Promise<RemovalState>? = nil) -> Bool {
        let isAdmitted = entries.count < Self.capacity
        if isAdmitted {
            append(removal, fulfilling: promise)
        } else if promise == nil, case .forget = removal {
            entries.removeAll { if case .forget = $0.removal { true } else { false } }
            let isCovered = entries.contains { if case .everything = $0.removal { !$0.isSent } else { false } }
            if !isCovered { append(.everything(), fulfilling: nil) }
        }
        return isAdmitted
    }

    private mutating func append(_ removal: Removal, fulfilling promise: Promise<RemovalState>?) {
        lastNumber += 1
        entries.append(Entry(number: lastNumber, removal: removal, promise: promise))
    }

    mutating func takeUnsent() -> [Entry] {
        let unsent = entries.filter { !$0.isSent }
        for index in entries.indices { entries[index].isSent = true }
        return unsent
    }

    mutating func putBack(_ number: Int) {
        if let index = entries.firstIndex(where: { $0.number == number }) { entries[index].isSent = false }
    }

    /// Returns a removal to the queue with its sources, which need not be listed again.
    mutating func putBack(_ number: Int, after tagged: TaggedSources) {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
        (entries[index].isSent, entries[index].tagged) = (false, tagged)
    }

    mutating func confirm(_ number: Int) -> Entry? {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return nil }
        return entries.remove(at: index)
    }
}

/// The state of a removal in a shared store, best first.
package enum RemovalState: Int, Comparable, Sendable {
    case done
    case pending
    case rejected

    package static func < (one: RemovalState, other: RemovalState) -> Bool { one.rawValue < other.rawValue }
}

package struct TagRemoval: Sendable {
    let tag: SharedTag
    /// Receives the sources, and whether these are all that the store knows; called on any thread, must be fast.
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

    /// Limits the members read, even unsealed ones: anyone with access to the server can add any number of members.
    private static let maximumBytes = 64 << 20
    /// The minimum size for which a member counts.
    private static let minimumBytes = 64

    /// Adds a page of members; nil stands for a member that is too long.
    ///
    /// - Parameter signature: The seal; members with another one are skipped and do not count.
    mutating func add(_ page: [[UInt8]?], signedBy signature: SharedSignature) {
        for member in page {
            readBytes += max(Self.minimumBytes, member?.count ?? TagRemovalLimit.maximumMemberBytes)
            guard let member, let source = signature.words(signed: member).flatMap({ NamedSource($0) }),
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

extension PurgeNotice {
    var sources: [SharedSource] { if case .sources(let sources) = subject { sources.map(\.source) } else { [] } }
}
