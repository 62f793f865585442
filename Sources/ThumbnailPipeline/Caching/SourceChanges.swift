import Downloading

/// Detects changes of sources during disk reads: a plain value, guarded by the caches' lock.
///
/// Nothing read from the disk before a change is put into memory after it. Only sources being read are tracked, so
/// there are never more of them than readers.
struct SourceChanges {
    /// A reader's position among the changes.
    struct Ticket {
        fileprivate let source: SourceIdentity
        fileprivate let change: Int
        fileprivate let era: Int
    }

    private struct Readers {
        var count = 0
        var change = 0
    }

    private var readers: [SourceIdentity: Readers] = [:]
    /// Counts changes of all sources at once.
    private var era = 0

    var count: Int { readers.count }

    /// Begins a read, to be ended with ``end(_:)``.
    mutating func begin(_ source: SourceIdentity) -> Ticket {
        readers[source, default: Readers()].count += 1
        return Ticket(source: source, change: readers[source]?.change ?? 0, era: era)
    }

    func isUnchanged(since ticket: Ticket) -> Bool {
        ticket.era == era && readers[ticket.source]?.change == ticket.change
    }

    mutating func end(_ ticket: Ticket) {
        guard var entry = readers[ticket.source] else { return }
        entry.count -= 1
        readers[ticket.source] = entry.count > 0 ? entry : nil
    }

    /// Records that a source was stored, confirmed or removed in memory.
    mutating func note(_ source: SourceIdentity) { readers[source]?.change += 1 }

    mutating func noteAll() { era += 1 }
}
