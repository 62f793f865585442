import HTTPTypes

/// An answer that a task computes while its connection is suspended: whoever ends the wait first, wins.
///
/// A plain state machine; the caller keeps it under a lock and does what the returned action says outside of it. Tickets tell the
/// promises of one connection apart, so that a late event of an earlier one finds nothing to end.
struct PromisedAnswer {
    private enum State {
        case none
        case awaited(ticket: UInt64, task: Task<Void, Never>?)
        case kept(HTTPResponse)
        case abandoned(ticket: UInt64)
    }

    /// What the caller has to do when a wait was ended early.
    struct Abandonment {
        /// To be cancelled; nil when it has not been attached yet.
        let task: Task<Void, Never>?
    }

    private var state = State.none

    /// Whether a task still owes the answer.
    var isAwaited: Bool {
        if case .awaited = state { true } else { false }
    }

    /// Begins a promise; its connection is suspended right after.
    mutating func begin(ticket: UInt64) {
        state = .awaited(ticket: ticket, task: nil)
    }

    /// Notes the task that keeps the promise; true when the promise was abandoned meanwhile and the task is to be cancelled.
    mutating func attach(_ task: Task<Void, Never>, ticket: UInt64) -> Bool {
        switch state {
        case .awaited(ticket, _):
            state = .awaited(ticket: ticket, task: task)
            return false
        case .abandoned(ticket): return true
        case .none, .awaited, .kept, .abandoned: return false
        }
    }

    /// Keeps the promise; true when the connection is to be resumed, false when nobody waits any more.
    mutating func keep(_ response: HTTPResponse, ticket: UInt64) -> Bool {
        guard case .awaited(ticket, _) = state else { return false }
        state = .kept(response)
        return true
    }

    /// Ends the wait without an answer; nil when there is nothing to end, else the connection is to be resumed.
    mutating func abandon(ticket: UInt64? = nil) -> Abandonment? {
        guard case .awaited(let current, let task) = state, ticket == nil || ticket == current else { return nil }
        state = .abandoned(ticket: current)
        return Abandonment(task: task)
    }

    /// The answer after the connection was resumed, nil when the promise was abandoned; the next one may begin.
    mutating func take() -> HTTPResponse? {
        defer { state = .none }
        guard case .kept(let response) = state else { return nil }
        return response
    }
}
