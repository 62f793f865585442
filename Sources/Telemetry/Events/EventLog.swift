import Coordination

/// The latest events of the service, recorded even when there are no readers.
///
/// Recording takes a lock and a slot in a preallocated array; events become text only when a reader wants them. Any
/// thread may record, but should hold no lock of its own meanwhile.
package final class EventLog: Sendable {
    private let history = Locked(EventHistory())

    package init() {}

    package func record(_ event: ServiceEvent) { history.withLock { $0.append(event) } }

    /// The number of the last event; 0 before the first.
    package var lastID: Int { history.withLock { $0.lastID } }

    /// Returns the events after the one with this number, in order, if they are still in the log.
    package func events(after id: Int) -> [NumberedEvent] { history.withLock { $0.events(after: id) } }
}

package struct NumberedEvent: Sendable, Equatable {
    /// The sequence number in this process, starting at 1.
    package let id: Int
    package let event: ServiceEvent
}

/// The latest events, in a ring buffer.
struct EventHistory {
    static let capacity = 1_000

    private var ring: [ServiceEvent] = []
    private(set) var lastID = 0

    init() { ring.reserveCapacity(Self.capacity) }

    /// Adds an event, overwriting the oldest if the buffer is full.
    mutating func append(_ event: ServiceEvent) {
        if ring.count < Self.capacity { ring.append(event) } else { ring[lastID % Self.capacity] = event }
        lastID += 1
    }

    func events(after id: Int) -> [NumberedEvent] {
        let first = max(id, lastID - ring.count)
        guard first < lastID else { return [] }
        return (first..<lastID).map { NumberedEvent(id: $0 + 1, event: ring[$0 % Self.capacity]) }
    }
}
