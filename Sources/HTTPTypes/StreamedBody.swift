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
    }

    /// The client may pause reading for any time, on a connection that ends with this body; otherwise the server's
    /// limits for stalled readers apply.
    package let allowsPausing: Bool
    private let state = Locked(State())

    package init(allowsPausing: Bool = false) { self.allowsPausing = allowsPausing }

    /// Once; at once if the server is already done with the body.
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
            let (isClosed, wake) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
                precondition(state.next == nil && state.writer == nil, "a body has one writer")
                guard !state.isClosed else { return (true, nil) }
                state.next = bytes
                state.writer = continuation
                defer { state.wake = nil }
                return (false, state.wake)
            }
            if isClosed { continuation.resume(returning: false) }
            wake?()
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
        let (piece, writer, onTake) = state.withLock {
            state -> (Piece, CheckedContinuation<Bool, Never>?, (@Sendable (Int) -> Void)?) in
            if state.isClosed { return (.broken, nil, nil) }
            if let bytes = state.next {
                defer {
                    state.next = nil
                    state.writer = nil
                }
                return (.bytes(bytes), state.writer, state.onTake)
            }
            return (state.isFinished ? (state.isBroken ? .broken : .end) : .pending, nil, nil)
        }
        writer?.resume(returning: true)
        if case .bytes(let bytes) = piece { onTake?(bytes.count) }
        return piece
    }

    /// Once, when ``take()`` has something to return; at once if it already has.
    package func whenReady(_ wake: @escaping @Sendable () -> Void) {
        let isReady = state.withLock { state in
            if state.next != nil || state.isFinished || state.isClosed { return true }
            state.wake = wake
            return false
        }
        if isReady { wake() }
    }

    package func close() {
        let (writer, onClose) = state.withLock {
            state -> (CheckedContinuation<Bool, Never>?, (@Sendable () -> Void)?) in
            guard !state.isClosed else { return (nil, nil) }
            state.isClosed = true
            defer {
                state.next = nil
                state.writer = nil
                state.wake = nil
                state.onClose = nil
                state.onTake = nil
            }
            return (state.writer, state.onClose)
        }
        writer?.resume(returning: false)
        onClose?()
    }
}
