import CMicrohttpd
import Coordination
import HTTPTypes

/// Suspends the connection until the response, or its next piece, is ready, which frees the event thread.
extension ClientConnection {
    /// Suspends while a task computes the response.
    ///
    /// The order matters: no thread may resume the connection before the library has suspended it. If a client
    /// disconnects before the task is attached, attaching cancels the task.
    func suspend(until work: @escaping @Sendable () async -> HTTPResponse) {
        let ticket = context.watch.makeTicket()
        step = .deferred(PendingDeferral(ticket: ticket))
        shared.withLock { $0.deferral.begin(ticket: ticket) }
        unsafe MHD_suspend_connection(connection)
        context.watch.watchHangup(of: self, descriptor: socket.descriptor, ticket: ticket)
        let task = Task {
            let response = await work()
            resume(with: { .ready(response) }, ticket: ticket)
        }
        let isAbandoned = shared.withLock { $0.deferral.attach(task, ticket: ticket) }
        if isAbandoned { task.cancel() }
    }

    /// Suspends for a short wait, during which disconnects are not detected.
    func suspend(during wait: ShortWait<HTTPResponse>) {
        let ticket = context.watch.makeTicket()
        step = .deferred(PendingDeferral(ticket: ticket, wait: wait))
        shared.withLock { $0.deferral.begin(ticket: ticket) }
        unsafe MHD_suspend_connection(connection)
        wait.begin { self.resume(with: wait.finish, ticket: ticket) }
    }

    /// Resumes the connection from any thread; the event thread sends the response.
    private func resume(with continuation: @escaping Deferral.Continuation, ticket: UInt64) {
        _ = resume { $0.deferral.resume(with: continuation, ticket: ticket) ? true : nil }
    }

    @discardableResult
    func abandon(ticket: UInt64?) -> Bool {
        if let abandonment = resume({ $0.deferral.abandon(ticket: ticket) }) {
            abandonment.task?.cancel()
            return true
        }
        guard let body = resume({ $0.streamWait.take(ticket) }) else { return false }
        body.close()
        return true
    }

    /// Suspends until `body` has another piece; event thread only, within the library's callback for more bytes.
    ///
    /// The order matters: no thread may resume the connection before the library has suspended it.
    func suspend(until body: StreamedBody) {
        let ticket = context.watch.makeTicket()
        streamTicket = ticket
        shared.withLock { $0.streamWait.begin(ticket, sending: body) }
        unsafe MHD_suspend_connection(connection)
        context.watch.watchHangup(of: self, descriptor: socket.descriptor, ticket: ticket)
        body.whenReady { [weak self] in _ = self?.resume { $0.streamWait.take(ticket) } }
    }

    /// Ends the connection within a response, so that the client notices that it is incomplete; event thread only.
    func abortResponse() { socket.end() }

    func endStreamWait() {
        guard let ticket = streamTicket else { return }
        streamTicket = nil
        context.watch.forgetHangup(descriptor: socket.descriptor, ticket: ticket)
        _ = shared.withLock { $0.streamWait.take(ticket) }
    }

    /// Ends the wait and resumes the connection, which stays alive until then because it is suspended.
    private func resume<Outcome: Sendable>(_ end: (inout Shared) -> Outcome?) -> Outcome? {
        context.beginResuming()
        defer { context.endResuming() }
        let outcome = shared.withLock { end(&$0) }
        if outcome != nil { unsafe MHD_resume_connection(connection) }
        return outcome
    }

    func deliver(_ deferral: PendingDeferral) -> Bool {
        step = .responded
        guard let continuation = end(deferral) else {
            _ = deferral.wait?.abandon()
            return false
        }
        return send(continuation())
    }

    func end(_ deferral: PendingDeferral) -> Deferral.Continuation? {
        if deferral.wait == nil { context.watch.forgetHangup(descriptor: socket.descriptor, ticket: deferral.ticket) }
        return shared.withLock { $0.deferral.take() }
    }
}
