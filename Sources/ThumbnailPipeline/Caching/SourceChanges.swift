import Downloading

/// Tells readers of the disk whether their source has changed meanwhile: a plain value; the caches keep it under a
/// lock.
///
/// Nothing that was read from the disk before a change is put into memory after it. Only sources that are being read
/// are counted, so there are never more of them than readers.
struct SourceChanges {
    /// A reader's place among the changes.
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
    /// Changes of all sources at once.
    private var era = 0

    /// Sources that are being read.
    var count: Int { readers.count }

    /// A reader begins; to be ended with ``end(_:)``.
    mutating func begin(_ source: SourceIdentity) -> Ticket {
        readers[source, default: Readers()].count += 1
        return Ticket(source: source, change: readers[source]?.change ?? 0, era: era)
    }

    /// Whether the reader's source is as it was when it began.
    func isUnchanged(since ticket: Ticket) -> Bool {
        ticket.era == era && readers[ticket.source]?.change == ticket.change
    }

    /// The reader is done.
    mutating func end(_ ticket: Ticket) {
        guard var entry = readers[ticket.source] else { return }
        entry.count -= 1
        readers[ticket.source] = entry.count > 0 ? entry : nil
    }

    /// Notes that a source has changed in memory: it is stored, confirmed or removed.
    mutating func note(_ source: SourceIdentity) { readers[source]?.change += 1 }

    /// Notes that all sources have changed.
    mutating func noteAll() { era += 1 }
}
