/// A plain value: every method changes the state and returns the action to perform.
///
/// `Continuation` receives the result of a waiter: a checked continuation in production, any type in a test.
struct SharedTasksState<Key: Hashable & Sendable, Value: Sendable, Continuation: Sendable> {
    typealias Work = Task<Void, Never>

    /// Names a caller before it has a continuation, because cancellation may come first.
    struct Ticket: Hashable, Sendable {
        let key: Key
        let serial: UInt64
        let id: UInt64
    }

    enum Entrance {
        case cached(Value)
        case started(Ticket)
        case joined(Ticket)
    }

    struct Departure {
        var continuation: Continuation?
        var abandoned: Work?
    }

    private struct SharedFetch {
        let serial: UInt64
        let work: Work
        var order: [UInt64] = []
        var present: Set<UInt64> = []
    }

    private enum Waiter {
        case arriving
        case waiting(Continuation)
        case answered(Result<Value, any Error>)
        case left
    }

    private var flights: [Key: SharedFetch] = [:]
    private var waiters: [UInt64: Waiter] = [:]
    private var lastID: UInt64 = 0

    var count: Int { flights.count }

    func contains(_ key: Key) -> Bool { flights[key] != nil }

    func waiterCount(for key: Key) -> Int { flights[key]?.present.count ?? 0 }

    mutating func enter(_ key: Key, cached: () -> Value?, start: (UInt64) -> Work) -> Entrance {
        if let ticket = join(key) { return .joined(ticket) }
        if let value = cached() { return .cached(value) }
        lastID += 1
        flights[key] = SharedFetch(serial: lastID, work: start(lastID))
        return .started(admit(to: key))
    }

    mutating func join(_ key: Key) -> Ticket? { contains(key) ? admit(to: key) : nil }

    private mutating func admit(to key: Key) -> Ticket {
        lastID += 1
        let serial = flights[key]?.serial ?? 0
        flights[key]?.order.append(lastID)
        flights[key]?.present.insert(lastID)
        waiters[lastID] = .arriving
        return Ticket(key: key, serial: serial, id: lastID)
    }

    mutating func `await`(_ ticket: Ticket, _ continuation: Continuation) -> Result<Value, any Error>? {
        switch waiters[ticket.id] {
        case .arriving:
            waiters[ticket.id] = .waiting(continuation)
            return nil
        case .answered(let result):
            waiters[ticket.id] = nil
            return result
        case .left, .waiting, nil:
            waiters[ticket.id] = nil
            return .failure(CancellationError())
        }
    }

    /// The work is canceled if the caller was the last.
    mutating func leave(_ ticket: Ticket) -> Departure {
        var departure = Departure()
        switch waiters[ticket.id] {
        case .arriving: waiters[ticket.id] = .left
        case .waiting(let continuation):
            departure.continuation = continuation
            waiters[ticket.id] = nil
        case .answered, .left, nil: return departure
        }
        guard var flight = flights[ticket.key], flight.serial == ticket.serial else { return departure }
        flight.present.remove(ticket.id)
        if flight.present.isEmpty {
            departure.abandoned = flight.work
            flights[ticket.key] = nil
        } else {
            flights[ticket.key] = flight
        }
        return departure
    }

    /// Returns the waiters to resume, in order of arrival.
    ///
    /// Has no effect on work already forgotten.
    mutating func finish(_ key: Key, _ serial: UInt64, _ result: Result<Value, any Error>) -> [Continuation] {
        guard let flight = flights[key], flight.serial == serial else { return [] }
        flights[key] = nil
        return flight.order.compactMap { id in
            guard flight.present.contains(id) else { return nil }
            if case .waiting(let continuation) = waiters[id] {
                waiters[id] = nil
                return continuation
            }
            waiters[id] = .answered(result)
            return nil
        }
    }
}
