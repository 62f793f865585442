package import Coordination

/// The log of recent events, recorded even when there are no readers.
///
/// Recording takes a lock and a slot in a preallocated array; events become text only when a reader wants them. Any
/// thread may record, but should hold no lock meanwhile.
package final class EventLog: Sendable {
    private let history = Locked(EventHistory())
    private let timekeeper: any Timekeeper

    package init(timekeeper: any Timekeeper = SystemTimekeeper()) { self.timekeeper = timekeeper }

    package func record(_ event: ServiceEvent) {
        let time = timekeeper.nanosecondsSince1970
        history.withLock { $0.append(event, at: time) }
    }

    /// 0 before the first event.
    package var lastID: Int { history.withLock { $0.lastID } }

    /// The events after an ID in order, if they are still in the log.
    package func events(after id: Int) -> [NumberedEvent] { history.withLock { $0.events(after: id) } }
}

package struct NumberedEvent: Sendable, Equatable {
    package let id: Int
    package let event: ServiceEvent
    package let time: Int64
}

struct EventHistory {
    static let capacity = 1_000

    private var ring: [(event: ServiceEvent, time: Int64)] = []
    private(set) var lastID = 0

    init() { ring.reserveCapacity(Self.capacity) }

    mutating func append(_ event: ServiceEvent, at time: Int64) {
        let entry = (event, time)
        if ring.count < Self.capacity { ring.append(entry) } else { ring[lastID % Self.capacity] = entry }
        lastID += 1
    }

    func events(after id: Int) -> [NumberedEvent] {
        let first = max(id, lastID - ring.count)
        guard first < lastID else { return [] }
        return (first..<lastID).map { index in
            let entry = ring[index % Self.capacity]
            return NumberedEvent(id: index + 1, event: entry.event, time: entry.time)
        }
    }
}
