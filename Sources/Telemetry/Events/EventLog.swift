import Coordination

/// The last events of the service, kept also while nobody reads them.
///
/// Handed to the parts that record, like their metrics. Recording takes a lock and a place in an array that is there
/// already: events become text when a reader wants them. Any thread may record; no lock of a recording part should be
/// held meanwhile.
package final class EventLog: Sendable {
    private let history = Locked(EventHistory())

    package init() {}

    /// Adds an event to the history.
    package func record(_ event: ServiceEvent) { history.withLock { $0.append(event) } }

    /// The number of the last event, 0 before the first.
    package var lastID: Int { history.withLock { $0.lastID } }

    /// The events after the one with this number, in order, as far as they are kept.
    package func events(after id: Int) -> [NumberedEvent] { history.withLock { $0.events(after: id) } }
}

/// An event with its place among all events of the process.
package struct NumberedEvent: Sendable, Equatable {
    /// The first event of the process has 1, each later one the next integer.
    package let id: Int
    package let event: ServiceEvent
}

/// The last events in a ring.
struct EventHistory {
    /// How many events are kept.
    static let capacity = 1_000

    private var ring: [ServiceEvent] = []
    /// The number of the last event.
    private(set) var lastID = 0

    init() { ring.reserveCapacity(Self.capacity) }

    /// Adds an event, in the place of the oldest if there is no room.
    mutating func append(_ event: ServiceEvent) {
        if ring.count < Self.capacity { ring.append(event) } else { ring[lastID % Self.capacity] = event }
        lastID += 1
    }

    /// The kept events with higher numbers than `id`, in order.
    func events(after id: Int) -> [NumberedEvent] {
        let first = max(id, lastID - ring.count)
        guard first < lastID else { return [] }
        return (first..<lastID).map { NumberedEvent(id: $0 + 1, event: ring[$0 % Self.capacity]) }
    }
}
