import HTTPTypes

/// A response that becomes ready while its connection is suspended, from a task or after a short wait.
///
/// The first event ends the wait.
///
/// A plain state machine: the caller guards it with a lock and performs the returned action outside the lock. Tickets
/// identify the deferred responses of a connection, so that a late event of an earlier one has no effect.
struct Deferral {
    /// Returns the response, or defers it again; called on the event thread.
    typealias Continuation = @Sendable () -> PendingResponse<HTTPResponse>

    private enum State {
        case none
        case awaited(ticket: UInt64, task: Task<Void, Never>?)
        case resumed(Continuation)
        case abandoned(ticket: UInt64)
    }

    struct Abandonment {
        /// The task of the abandoned wait; nil if it has none or is not attached yet.
        let task: Task<Void, Never>?
    }

    private var state = State.none

    mutating func begin(ticket: UInt64) { state = .awaited(ticket: ticket, task: nil) }

    /// Attaches the task; returns true if the wait was already abandoned, so that the caller must cancel the task.
    mutating func attach(_ task: Task<Void, Never>, ticket: UInt64) -> Bool {
        switch state {
        case .awaited(ticket, _):
            state = .awaited(ticket: ticket, task: task)
            return false
        case .abandoned(ticket): return true
        case .none, .awaited, .resumed, .abandoned: return false
        }
    }

    /// Returns true if the caller must resume the connection, false if the client has disconnected.
    mutating func resume(with continuation: @escaping Continuation, ticket: UInt64) -> Bool {
        guard case .awaited(ticket, _) = state else { return false }
        state = .resumed(continuation)
        return true
    }

    /// Abandons the wait; unless the result is nil, the caller must resume the connection.
    mutating func abandon(ticket: UInt64? = nil) -> Abandonment? {
        guard case .awaited(let current, let task) = state, ticket == nil || ticket == current else { return nil }
        state = .abandoned(ticket: current)
        return Abandonment(task: task)
    }

    /// Returns the continuation after the connection was resumed; nil if the wait was abandoned.
    ///
    /// The next wait may begin after this.
    mutating func take() -> Continuation? {
        defer { state = .none }
        guard case .resumed(let continuation) = state else { return nil }
        return continuation
    }
}
