import Coordination

final class CurlInbox: Sendable {
    struct Load: Sendable {
        let id: UInt64
        let request: TransferRequest
        let progress: TransferProgress
        let admitHop: HopAdmission
        /// The key that signs requests to the named origin; nil if they are not signed.
        let key: OriginCredentials.AccessKey?
        let continuation: CheckedContinuation<TransferResult, any Error>
    }

    enum Command: Sendable {
        case start(Load)
        case cancel(UInt64)
    }

    private struct State {
        var lastID: UInt64 = 0
        var arriving: Set<UInt64> = []
        var commands: [Command] = []
        var isShutDown = false
    }

    private let state = Locked(State())

    func announce() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            state.arriving.insert(state.lastID)
            return state.lastID
        }
    }

    /// Queues the load; returns an error if it was canceled or the loop has ended.
    func start(_ load: Load) -> (any Error)? {
        state.withLock { state in
            guard state.arriving.remove(load.id) != nil else { return CancellationError() }
            guard !state.isShutDown else { return DownloadError.shuttingDown }
            state.commands.append(.start(load))
            return nil
        }
    }

    func cancel(_ id: UInt64) {
        state.withLock { state in
            if state.arriving.remove(id) == nil { state.commands.append(.cancel(id)) }
        }
    }

    func shutDown() -> Bool {
        state.withLock { state in
            defer { state.isShutDown = true }
            return !state.isShutDown
        }
    }

    func take() -> (commands: [Command], isShutDown: Bool) {
        state.withLock { state in
            defer { state.commands.removeAll(keepingCapacity: true) }
            return (state.commands, state.isShutDown)
        }
    }
}
