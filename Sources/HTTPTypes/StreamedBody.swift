import Coordination
package import Memory

/// A body of unknown length; the writer of a piece waits until the client has received the previous one.
///
/// A slow reader therefore keeps only one piece in memory. The writer is a task on any thread; the server takes pieces
/// on its event thread.
package final class StreamedBody: Sendable {
    package struct Closed: Error {}

    package enum Piece: Sendable {
        case bytes(SharedBytes)
        case end
        case pending
        /// The connection must end, so that the client does not take the body for complete.
        case broken
    }

    private struct State: Sendable {
        var next: SharedBytes?
        var isFinished = false
        var isBroken = false
        var isClosed = false
        var writer: CheckedContinuation<Bool, Never>?
        var wake: (@Sendable () -> Void)?
        var onClose: (@Sendable () -> Void)?
        var onTake: (@Sendable (_ count: Int) -> Void)?

        var piece: Piece {
            if isClosed { return .broken }
            if let next { return .bytes(next) }
            guard isFinished else { return .pending }
            return isBroken ? .broken : .end
        }
    }

    /// The client may pause reading for any time, on a connection that ends with this body; otherwise the server's
    /// limits for stalled readers apply.
    package let allowsPausing: Bool
    private let state = Locked(State())

    package init(allowsPausing: Bool = false) { self.allowsPausing = allowsPausing }

    /// Calls `body` once the server no longer needs the streamed body; immediately if it is already closed.
    package func onClose(_ body: @escaping @Sendable () -> Void) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.onClose = body }
            return state.isClosed
        }
        if isClosed { body() }
    }

    /// Calls `body` for each piece that the server takes.
    package func onTake(_ body: @escaping @Sendable (_ count: Int) -> Void) { state.withLock { $0.onTake = body } }

    /// May be empty; returns when the server has taken the piece.
    package func write(_ bytes: SharedBytes) async throws(Closed) {
        guard bytes.count > 0 else { return }
        let isTaken = await withCheckedContinuation { continuation in
            let before = state.withLock { state in
                precondition(state.next == nil && state.writer == nil, "a body has one writer")
                let before = state
                guard !state.isClosed else { return before }
                state.next = bytes
                state.writer = continuation
                state.wake = nil
                return before
            }
            if before.isClosed { continuation.resume(returning: false) }
            before.wake?()
        }
        guard isTaken else { throw Closed() }
    }

    /// If the body is incomplete, the connection is aborted.
    package func finish(isComplete: Bool = true) {
        let wake = state.withLock { state in
            state.isFinished = true
            state.isBroken = !isComplete
            defer { state.wake = nil }
            return state.wake
        }
        wake?()
    }

    package func take() -> Piece {
        let (piece, before) = state.withLock { state in
            let before = state
            let piece = state.piece
            if case .bytes = piece {
                state.next = nil
                state.writer = nil
            }
            return (piece, before)
        }
        if case .bytes(let bytes) = piece {
            before.writer?.resume(returning: true)
            before.onTake?(bytes.count)
        }
        return piece
    }

    /// Calls `wake` once, when ``take()`` has something to return; immediately if it already has.
    package func whenReady(_ wake: @escaping @Sendable () -> Void) {
        let isReady = state.withLock { state in
            if state.next != nil || state.isFinished || state.isClosed { return true }
            state.wake = wake
            return false
        }
        if isReady { wake() }
    }

    package func close() {
        let before = state.exchange(State(isClosed: true))
        before.writer?.resume(returning: false)
        before.onClose?()
    }
}
