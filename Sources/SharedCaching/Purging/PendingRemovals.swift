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
        /// The sources found under the tag, perhaps not all; nil until they have been listed.
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

extension PurgeNotice {
    var sources: [SharedSource] { if case .sources(let sources) = subject { sources.map(\.source) } else { [] } }
}
