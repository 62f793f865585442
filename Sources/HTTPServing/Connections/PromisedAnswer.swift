import HTTPTypes

/// An answer that is made while its connection is suspended, by a task or after a short wait: the first event ends the
/// wait.
///
/// A plain state machine; the caller keeps it under a lock and performs the returned action outside of it. Tickets
/// identify the promises of one connection, so that a late event of an earlier one finds nothing to end.
struct PromisedAnswer {
    /// A function that gives the answer, or promises another one; called on the event thread.
    typealias Kept = @Sendable () -> HTTPAnswer

    private enum State {
        case none
        case awaited(ticket: UInt64, task: Task<Void, Never>?)
        case kept(Kept)
        case abandoned(ticket: UInt64)
    }

    /// The action for the caller when a wait was ended early.
    struct Abandonment {
        /// To be cancelled; nil if there is none, or it has not been attached yet.
        let task: Task<Void, Never>?
    }

    private var state = State.none

    /// Begins a promise; its connection is suspended right after.
    mutating func begin(ticket: UInt64) {
        state = .awaited(ticket: ticket, task: nil)
    }

    /// Notes the task that keeps the promise; true if the promise was abandoned meanwhile, so the task is to be
    /// cancelled.
    mutating func attach(_ task: Task<Void, Never>, ticket: UInt64) -> Bool {
        switch state {
        case .awaited(ticket, _):
            state = .awaited(ticket: ticket, task: task)
            return false
        case .abandoned(ticket): return true
        case .none, .awaited, .kept, .abandoned: return false
        }
    }

    /// Keeps the promise; true if the connection is to be resumed, false if the client has left.
    mutating func keep(_ answer: @escaping Kept, ticket: UInt64) -> Bool {
        guard case .awaited(ticket, _) = state else { return false }
        state = .kept(answer)
        return true
    }

    /// Ends the wait without an answer; nil if there is no wait, else the connection is to be resumed.
    mutating func abandon(ticket: UInt64? = nil) -> Abandonment? {
        guard case .awaited(let current, let task) = state, ticket == nil || ticket == current else { return nil }
        state = .abandoned(ticket: current)
        return Abandonment(task: task)
    }

    /// The answer after the connection was resumed, nil if the promise was abandoned; the next promise may begin.
    mutating func take() -> Kept? {
        defer { state = .none }
        guard case .kept(let answer) = state else { return nil }
        return answer
    }
}
