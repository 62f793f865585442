import Coordination
import Glibc

/// State shared by the threads of a ``FakeOrigin``.
final class FakeOriginCore: Sendable {
    struct State: Sendable {
        var answers: [String: FakeResponse] = [:]
        var fallback: (@Sendable (FakeOrigin.Request) -> FakeResponse?)?
        var hits: [String: Int] = [:]
        var requests: [FakeOrigin.Request] = []
        var abandonments: [String: Int] = [:]
        var active = 0
        var highestParallelism = 0
        var connectionCount = 0
        var open: Set<CInt> = []
        var isStopped = false
    }

    let state = Watched(State())

    /// Accepts connections until the listener is shut down, then closes it; each connection has a thread.
    func acceptConnections(of listener: CInt) {
        defer { close(listener) }
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else {
                if errno == EINTR || errno == ECONNABORTED { continue }
                return
            }
            let isWelcome = state.withLock { state in
                guard !state.isStopped else { return false }
                state.connectionCount += 1
                state.open.insert(descriptor)
                return true
            }
            guard isWelcome else {
                close(descriptor)
                return
            }
            startThread { self.serve(FakeConnection(descriptor: descriptor)) }
        }
    }

    private func serve(_ connection: FakeConnection) {
        while let request = connection.readRequest() {
            let path = String(request.target.prefix { $0 != "?" })
            let (answer, fallback) = state.withLock { state in
                state.requests.append(request)
                state.hits[path, default: 0] += 1
                state.active += 1
                state.highestParallelism = max(state.highestParallelism, state.active)
                return (state.answers[request.target] ?? state.answers[path], state.fallback)
            }
            let chosen = answer ?? fallback?(request) ?? .status(404)
            let progress = take(chosen.steps(isHead: request.method == "HEAD"), on: connection)
            if progress == .clientLeft { state.withLock { $0.abandonments[path, default: 0] += 1 } }
            if progress != .goOn { break }
        }
        state.withLock { _ = $0.open.remove(connection.descriptor) }
        close(connection.descriptor)
    }

    /// Performs the steps.
    ///
    /// The request ends just before its last byte is sent, so that clients that received all of it
    /// see it ended.
    private func take(_ steps: [FakeResponse.Step], on connection: FakeConnection) -> FakeConnection.Progress {
        let lastSend = steps.lastIndex { if case .send = $0 { true } else { false } }
        var progress = FakeConnection.Progress.goOn
        var hasEnded = false
        for (index, step) in steps.enumerated() where progress == .goOn {
            if index == lastSend, case .send(let bytes) = step {
                progress = connection.take(.send(bytes.dropLast()))
                state.withLock { $0.active -= 1 }
                hasEnded = true
                if progress == .goOn { progress = connection.take(.send(bytes.suffix(1))) }
            } else {
                progress = connection.take(step)
            }
        }
        if !hasEnded { state.withLock { $0.active -= 1 } }
        return progress
    }
}
