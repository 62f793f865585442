import Coordination

/// Removals that the server has not confirmed: a plain value.
///
/// They are sent again until it does, and none is dropped while there is room.
struct DueRemovals {
    /// A removal at the server.
    enum Removal {
        /// Make all that was written about sources unreadable.
        case forget([SharedSource])
        /// The same, and tell all other instances.
        case purge([PurgeNotice])
        /// The same for the sources that the place knows under a tag.
        case tagged(TagRemoval)
        case everything
    }

    /// A removal, and the caller that waits for it.
    struct Entry {
        let number: Int
        let removal: Removal
        let answer: FirstAnswer<RemovalState>?
        var isSent = false
        /// The sources of a tag, once they are known, or as far as their list can be read.
        var found: TaggedSources?
    }

    private(set) var entries: [Entry] = []
    private var lastNumber = 0

    /// Most removals that wait.
    static let capacity = 4_096

    /// Whether nothing is due.
    var isEmpty: Bool { entries.isEmpty }

    /// Whether something of these sources is to be removed.
    func concerns(_ sources: [SharedSource]) -> Bool {
        entries.contains { entry in
            switch entry.removal {
            case .forget(let removed): removed.contains(where: sources.contains)
            case .purge(let notices): notices.contains { $0.sources.contains(where: sources.contains) }
            // Nobody knows yet which sources these are.
            case .tagged, .everything: true
            }
        }
    }

    /// Adds a removal; false if too many wait for it to be added as it is.
    ///
    /// If too many are to be forgotten one by one, for nobody who waits, everything is forgotten once: for that there
    /// is always room.
    mutating func add(_ removal: Removal, answer: FirstAnswer<RemovalState>? = nil) -> Bool {
        let hasRoom = entries.count < Self.capacity
        if hasRoom {
            append(removal, answer)
        } else if answer == nil, case .forget = removal {
            entries.removeAll { if case .forget = $0.removal { true } else { false } }
            let isCovered = entries.contains { if case .everything = $0.removal { !$0.isSent } else { false } }
            if !isCovered { append(.everything, nil) }
        }
        return hasRoom
    }

    private mutating func append(_ removal: Removal, _ answer: FirstAnswer<RemovalState>?) {
        lastNumber += 1
        entries.append(Entry(number: lastNumber, removal: removal, answer: answer))
    }

    /// Takes the removals that are not under way; from then on they are.
    mutating func takeUnsent() -> [Entry] {
        let unsent = entries.filter { !$0.isSent }
        for index in entries.indices { entries[index].isSent = true }
        return unsent
    }

    /// Notes that a removal was not confirmed: it is to be sent again.
    mutating func putBack(_ number: Int) {
        if let index = entries.firstIndex(where: { $0.number == number }) { entries[index].isSent = false }
    }

    /// The same for a removal by tag, whose sources need not be looked for again.
    mutating func putBack(_ number: Int, after found: TaggedSources) {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
        (entries[index].isSent, entries[index].found) = (false, found)
    }

    /// Takes out what the server has confirmed.
    mutating func confirm(_ number: Int) -> Entry? {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return nil }
        return entries.remove(at: index)
    }
}

/// How far a removal has come at a place that instances share, best first.
package enum RemovalState: Int, Comparable, Sendable {
    /// The place has taken it.
    case done
    /// It waits until the place takes it.
    case due
    /// Too many wait.
    case refused

    package static func < (one: RemovalState, other: RemovalState) -> Bool { one.rawValue < other.rawValue }
}

/// The removal of all that was asked for under a tag.
package struct TagRemoval: Sendable {
    let tag: SharedTag
    /// Told which sources the place has made unreadable, and whether these are all that it knew under the tag; on any
    /// thread, must be quick.
    let onFound: @Sendable (_ sources: [NamedSource], _ isComplete: Bool) -> Void

    /// A removal of what is known under `tag`.
    package init(of tag: SharedTag, onFound: @escaping @Sendable (_ sources: [NamedSource], _ isComplete: Bool) -> Void)
    {
        (self.tag, self.onFound) = (tag, onFound)
    }
}

/// Counts the sources that one purge by tag removes: there is a bound, because each is removed by itself, and all
/// instances are told its name.
package struct TagRemovalRoom: Sendable {
    /// Most sources.
    package static let mostSources = 100_000
    /// The longest member of a list that is read, in bytes.
    static let longestMember = 8 << 10
    /// Most bytes of their names; they make half as many notices as the log of purges keeps.
    static let mostBytes = 8 << 20

    private var sources = 0
    private var bytes = 0

    package init() {}

    /// Takes room for a source of this name; false if there is none.
    package mutating func take(_ name: String) -> Bool {
        guard sources < Self.mostSources, bytes + name.utf8.count + SharedSource.labelLength < Self.mostBytes else {
            return false
        }
        sources += 1
        bytes += name.utf8.count + SharedSource.labelLength + 1
        return true
    }
}

/// The sources that the server knows under a tag, as far as they were read.
struct TaggedSources {
    private(set) var sources: Set<NamedSource> = []
    /// Whether these are all.
    private(set) var isComplete = true
    private var room = TagRemovalRoom()
    private var readBytes = 0
    private var notices: [PurgeNotice] = []

    /// Most bytes of members that are read, those that no instance has sealed as well: anybody at the server can add
    /// them without end.
    private static let mostBytes = 64 << 20
    /// Bytes that a member counts at least.
    private static let leastBytes = 64

    /// Adds a page of members; nil for those that are too long.
    ///
    /// - Parameter seal: The seal of members of this tag; others are passed over, and take no room.
    mutating func add(_ page: [[UInt8]?], sealedBy seal: SharedSeal) {
        for member in page {
            readBytes += max(Self.leastBytes, member?.count ?? TagRemovalRoom.longestMember)
            guard let member, let source = seal.words(sealed: member).flatMap({ NamedSource($0) }),
                !sources.contains(source)
            else { continue }
            guard room.take(source.name) else { return end() }
            sources.insert(source)
        }
        if readBytes > Self.mostBytes { end() }
    }

    /// Notes that there may be others.
    mutating func end() { isComplete = false }

    /// Their purges, the same ones in each call.
    ///
    /// The tag comes last: who hears of it has removed these sources by then, and looks for others.
    mutating func notices(for tag: SharedTag) -> [PurgeNotice] {
        if notices.isEmpty { notices = PurgeNotice.notices(of: Array(sources)) + [PurgeNotice(.tag(tag))] }
        return notices
    }
}

extension PurgeNotice {
    /// The sources that it names.
    var sources: [SharedSource] { if case .sources(let sources) = subject { sources.map(\.source) } else { [] } }
}
