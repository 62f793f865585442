import Coordination

/// Removals that are sent until the server confirms them; none is dropped while there is room.
///
/// A plain value.
struct PendingRemovals {
    enum Removal {
        case forget([SharedSource])
        /// Removes sources, and notifies all other instances.
        case purge([PurgeNotice])
        case tagged(TagRemoval)
        /// Removes everything, and notifies all other instances if an operator wants it.
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
        let answer: Promise<RemovalState>?
        var isSent = false
        /// The sources under a tag, once they are known, or the readable part of their list.
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

    /// Returns false if too many are pending.
    ///
    /// If too many sources are to be forgotten without a waiting caller, everything is forgotten once; there is always
    /// room for that.
    mutating func add(_ removal: Removal, answer: Promise<RemovalState>? = nil) -> Bool {
        let hasRoom = entries.count < Self.capacity
        if hasRoom {
            append(removal, answer)
        } else if answer == nil, case .forget = removal {
            entries.removeAll { if case .forget = $0.removal { true } else { false } }
            let isCovered = entries.contains { if case .everything = $0.removal { !$0.isSent } else { false } }
            if !isCovered { append(.everything(), nil) }
        }
        return hasRoom
    }

    private mutating func append(_ removal: Removal, _ answer: Promise<RemovalState>?) {
        lastNumber += 1
        entries.append(Entry(number: lastNumber, removal: removal, answer: answer))
    }

    mutating func takeUnsent() -> [Entry] {
        let unsent = entries.filter { !$0.isSent }
        for index in entries.indices { entries[index].isSent = true }
        return unsent
    }

    mutating func putBack(_ number: Int) {
        if let index = entries.firstIndex(where: { $0.number == number }) { entries[index].isSent = false }
    }

    /// The sources need not be listed again.
    mutating func putBack(_ number: Int, after tagged: TaggedSources) {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
        (entries[index].isSent, entries[index].tagged) = (false, tagged)
    }

    mutating func confirm(_ number: Int) -> Entry? {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return nil }
        return entries.remove(at: index)
    }
}

/// The state of a removal in a shared place, best first.
package enum RemovalState: Int, Comparable, Sendable {
    case done
    case pending
    case rejected

    package static func < (one: RemovalState, other: RemovalState) -> Bool { one.rawValue < other.rawValue }
}

package struct TagRemoval: Sendable {
    let tag: SharedTag
    /// `isComplete`: they are all that the place knew under the tag; called on any thread, must be quick.
    let onSources: @Sendable (_ sources: [NamedSource], _ isComplete: Bool) -> Void

    package init(
        of tag: SharedTag, onSources: @escaping @Sendable (_ sources: [NamedSource], _ isComplete: Bool) -> Void
    ) {
        (self.tag, self.onSources) = (tag, onSources)
    }
}

/// Limits the sources that a purge by tag removes, because each is removed separately, and all instances receive
/// its name.
package struct TagRemovalLimit: Sendable {
    package static let maximumSources = 100_000
    static let maximumMemberBytes = 8 << 10
    /// The length of all names, which fill half as many notices as the purge log keeps.
    static let maximumBytes = 8 << 20

    private var sources = 0
    private var bytes = 0

    package init() {}

    /// Returns false if there is no room for a source of this name.
    package mutating func take(_ name: String) -> Bool {
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
    private var room = TagRemovalLimit()
    private var readBytes = 0
    private var notices: [PurgeNotice] = []

    /// Limits the members read, sealed or not: anyone with access to the server can add members without limit.
    private static let maximumBytes = 64 << 20
    /// A member counts at least this size.
    private static let minimumBytes = 64

    /// A page of members; nil for those that are too long.
    ///
    /// - Parameter signature: Members with another signature are skipped, and take no room.
    mutating func add(_ page: [[UInt8]?], signedBy signature: SharedSignature) {
        for member in page {
            readBytes += max(Self.minimumBytes, member?.count ?? TagRemovalLimit.maximumMemberBytes)
            guard let member, let source = signature.words(signed: member).flatMap({ NamedSource($0) }),
                !sources.contains(source)
            else { continue }
            guard room.take(source.name) else { return end() }
            sources.insert(source)
        }
        if readBytes > Self.maximumBytes { end() }
    }

    mutating func end() { isComplete = false }

    /// Returns the same purges in each call.
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
