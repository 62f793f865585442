import CMicrohttpd
import Coordination
import HTTPTypes

/// Suspended until the response, or the next piece of it, is ready, so that the event thread can do other work.
extension ClientConnection {
    /// The order matters: no thread may resume the connection before the library has suspended it, and if a client
    /// disconnects before the task is attached, attaching cancels the task.
    func suspend(until work: @escaping @Sendable () async -> HTTPResponse) {
        let ticket = context.watch.makeTicket()
        step = .deferred(Deferral(ticket: ticket))
        shared.withLock { $0.promise.begin(ticket: ticket) }
        unsafe MHD_suspend_connection(connection)
        context.watch.watchHangup(of: self, descriptor: socket.descriptor, ticket: ticket)
        let task = Task {
            let response = await work()
            keep({ .ready(response) }, ticket: ticket)
        }
        let isAbandoned = shared.withLock { $0.promise.attach(task, ticket: ticket) }
        if isAbandoned { task.cancel() }
    }

    /// Disconnects are not detected.
    func suspend(during wait: ShortWait) {
        let ticket = context.watch.makeTicket()
        step = .deferred(Deferral(ticket: ticket, wait: wait))
        shared.withLock { $0.promise.begin(ticket: ticket) }
        unsafe MHD_suspend_connection(connection)
        wait.begin { self.keep(wait.answer, ticket: ticket) }
    }

    /// On any thread; the event thread sends the response.
    private func keep(_ answer: @escaping DeferredResponse.Kept, ticket: UInt64) {
        _ = resume { $0.promise.keep(answer, ticket: ticket) ? true : nil }
    }

    @discardableResult
    func abandon(ticket: UInt64?) -> Bool {
        if let abandonment = resume({ $0.promise.abandon(ticket: ticket) }) {
            abandonment.task?.cancel()
            return true
        }
        guard let body = resume({ $0.streamWait.take(ticket) }) else { return false }
        body.close()
        return true
    }

    /// Until `body` has another piece; event thread only, within the library's callback for more bytes.
    ///
    /// The order matters: no thread may resume the connection before the library has suspended it.
    func suspend(until body: StreamedBody) {
        let ticket = context.watch.makeTicket()
        streamTicket = ticket
        shared.withLock { $0.streamWait.begin(ticket, body) }
        unsafe MHD_suspend_connection(connection)
        context.watch.watchHangup(of: self, descriptor: socket.descriptor, ticket: ticket)
        body.whenReady { [weak self] in _ = self?.resume { $0.streamWait.take(ticket) } }
    }

    /// Within a response, so that the client does not take it for complete; event thread only.
    func breakOff() { socket.end() }

    func endStreamWait() {
        guard let ticket = streamTicket else { return }
        streamTicket = nil
        context.watch.forgetHangup(descriptor: socket.descriptor, ticket: ticket)
        _ = shared.withLock { $0.streamWait.take(ticket) }
    }

    /// The connection stays alive until then, because it is suspended.
    private func resume<Outcome: Sendable>(_ end: (inout Shared) -> Outcome?) -> Outcome? {
        context.beginResuming()
        defer { context.endResuming() }
        let outcome = shared.withLock { end(&$0) }
        if outcome != nil { unsafe MHD_resume_connection(connection) }
        return outcome
    }

    func deliver(_ promise: Deferral) -> Bool {
        step = .answered
        guard let answer = end(promise) else {
            promise.wait?.onAbandon()
            return false
        }
        return give(answer())
    }

    func end(_ promise: Deferral) -> DeferredResponse.Kept? {
        if promise.wait == nil { context.watch.forgetHangup(descriptor: socket.descriptor, ticket: promise.ticket) }
        return shared.withLock { $0.promise.take() }
    }
}
