/// The state of ``SharedTasks``: every method changes it and returns the action to perform; a plain value.
///
/// `Continuation` receives the result of a waiter: a checked continuation in production, any type in a test.
struct SharedTasksState<Key: Hashable & Sendable, Value: Sendable, Continuation: Sendable> {
    typealias Work = Task<Void, Never>

    /// Identifies a caller before it has a continuation, because cancellation may come first.
    struct Ticket: Hashable, Sendable {
        let key: Key
        let serial: UInt64
        let id: UInt64
    }

    enum Admission {
        case cached(Value)
        case started(Ticket)
        case joined(Ticket)
    }

    struct Departure {
        var continuation: Continuation?
        var abandoned: Work?
    }

    private struct SharedTask {
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

    private var tasks: [Key: SharedTask] = [:]
    private var waiters: [UInt64: Waiter] = [:]
    private var lastID: UInt64 = 0

    var count: Int { tasks.count }

    func contains(_ key: Key) -> Bool { tasks[key] != nil }

    func waiterCount(for key: Key) -> Int { tasks[key]?.present.count ?? 0 }

    mutating func enter(_ key: Key, cached: () -> Value?, start: (UInt64) -> Work) -> Admission {
        if let ticket = join(key) { return .joined(ticket) }
        if let value = cached() { return .cached(value) }
        lastID += 1
        tasks[key] = SharedTask(serial: lastID, work: start(lastID))
        return .started(admit(to: key))
    }

    mutating func join(_ key: Key) -> Ticket? { contains(key) ? admit(to: key) : nil }

    private mutating func admit(to key: Key) -> Ticket {
        lastID += 1
        let serial = tasks[key]?.serial ?? 0
        tasks[key]?.order.append(lastID)
        tasks[key]?.present.insert(lastID)
        waiters[lastID] = .arriving
        return Ticket(key: key, serial: serial, id: lastID)
    }

    /// Returns the result if the task has finished; otherwise stores the continuation.
    mutating func wait(for ticket: Ticket, continuation: Continuation) -> Result<Value, any Error>? {
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

    /// Removes a waiter; the work is canceled if it was the last one.
    mutating func leave(_ ticket: Ticket) -> Departure {
        var departure = Departure()
        switch waiters[ticket.id] {
        case .arriving: waiters[ticket.id] = .left
        case .waiting(let continuation):
            departure.continuation = continuation
            waiters[ticket.id] = nil
        case .answered, .left, nil: return departure
        }
        guard var task = tasks[ticket.key], task.serial == ticket.serial else { return departure }
        task.present.remove(ticket.id)
        if task.present.isEmpty {
            departure.abandoned = task.work
            tasks[ticket.key] = nil
        } else {
            tasks[ticket.key] = task
        }
        return departure
    }

    /// Removes the work and returns the waiters to resume, in order of arrival.
    ///
    /// Has no effect if the work was already removed.
    mutating func finish(_ key: Key, serial: UInt64, with result: Result<Value, any Error>) -> [Continuation] {
        guard let task = tasks[key], task.serial == serial else { return [] }
        tasks[key] = nil
        return task.order.compactMap { id in
            guard task.present.contains(id) else { return nil }
            if case .waiting(let continuation) = waiters[id] {
                waiters[id] = nil
                return continuation
            }
            waiters[id] = .answered(result)
            return nil
        }
    }
}
