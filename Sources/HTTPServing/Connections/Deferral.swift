import HTTPTypes

/// A response that becomes ready while its connection is suspended, from a task or after a short wait; the first event
/// ends the wait.
///
/// A plain state machine: the caller guards it with a lock and performs the returned action outside the lock. Tickets
/// identify the deferred responses of a connection, so that a late event of an earlier one has no effect.
struct Deferral {
    /// Called on the event thread; may defer the response again.
    typealias Continuation = @Sendable () -> PendingResponse<HTTPResponse>

    private enum State {
        case none
        case awaited(ticket: UInt64, task: Task<Void, Never>?)
        case resumed(Continuation)
        case abandoned(ticket: UInt64)
    }

    struct Abandonment {
        /// Nil if there is none, or it has not been attached yet.
        let task: Task<Void, Never>?
    }

    private var state = State.none

    mutating func begin(ticket: UInt64) { state = .awaited(ticket: ticket, task: nil) }

    /// Returns true if the wait has been abandoned and the task must be canceled.
    mutating func attach(_ task: Task<Void, Never>, ticket: UInt64) -> Bool {
        switch state {
        case .awaited(ticket, _):
            state = .awaited(ticket: ticket, task: task)
            return false
        case .abandoned(ticket): return true
        case .none, .awaited, .resumed, .abandoned: return false
        }
    }

    /// Returns true if the connection must be resumed, false if the client has disconnected.
    mutating func resume(with continuation: @escaping Continuation, ticket: UInt64) -> Bool {
        guard case .awaited(ticket, _) = state else { return false }
        state = .resumed(continuation)
        return true
    }

    /// Nil if there is no wait, otherwise the connection must be resumed.
    mutating func abandon(ticket: UInt64? = nil) -> Abandonment? {
        guard case .awaited(let current, let task) = state, ticket == nil || ticket == current else { return nil }
        state = .abandoned(ticket: current)
        return Abandonment(task: task)
    }

    /// Called after the connection was resumed; returns nil if the wait was abandoned.
    ///
    /// The next wait may begin afterward.
    mutating func take() -> Continuation? {
        defer { state = .none }
        guard case .resumed(let continuation) = state else { return nil }
        return continuation
    }
}
