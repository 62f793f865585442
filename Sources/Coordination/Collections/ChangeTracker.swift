/// Detects whether a key changed during a read or write; a plain value that its owner locks.
///
/// Tracks only keys in use, so it never has more entries than there are readers and writers.
package struct ChangeTracker<Key: Hashable> {
    package struct Ticket {
        fileprivate let key: Key
        fileprivate let change: Int
        fileprivate let epoch: Int
    }

    private struct Use {
        var count = 0
        var change = 0
    }

    private var uses: [Key: Use] = [:]
    private var epoch = 0

    package init() {}

    package var count: Int { uses.count }

    package func isInUse(_ key: Key) -> Bool { uses[key] != nil }

    package mutating func begin(_ key: Key) -> Ticket {
        uses[key, default: Use()].count += 1
        return Ticket(key: key, change: uses[key]?.change ?? 0, epoch: epoch)
    }

    package func isUnchanged(since ticket: Ticket) -> Bool {
        ticket.epoch == epoch && uses[ticket.key]?.change == ticket.change
    }

    package mutating func end(_ ticket: Ticket) {
        guard var use = uses[ticket.key] else { return }
        use.count -= 1
        uses[ticket.key] = use.count > 0 ? use : nil
    }

    package mutating func record(_ key: Key) { uses[key]?.change += 1 }

    package mutating func recordAll() { epoch += 1 }
}

extension ChangeTracker: Sendable where Key: Sendable {}
extension ChangeTracker.Ticket: Sendable where Key: Sendable {}
