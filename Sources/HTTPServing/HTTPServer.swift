package import Coordination
package import HTTPTypes
package import Telemetry

/// An HTTP/1.1 server on one address, run by libmicrohttpd's event threads and the `http-watch` thread.
package final class HTTPServer: Sendable {
    /// The port in use, even if 0 was configured.
    package let port: UInt16
    private let socket: ListeningSocket
    private let context: ServingContext
    private let daemon: MicrohttpdDaemon
    private let isListening = Locked(true)

    /// Starts serving; clients can connect when it returns.
    ///
    /// - Parameters:
    ///   - logger: Logs events unrelated to a single request.
    ///   - timekeeper: The clock for the time limits of headers, bodies and the shutdown; idle connections and stalled
    ///   readers follow the system's clock.
    package init(
        configuration: HTTPServerConfiguration, responder: any RequestResponder, logger: Logger,
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws(HTTPServerError) {
        let watch = try ConnectionWatch()
        context = ServingContext(
            configuration: configuration, responder: responder, logger: logger, watch: watch, timekeeper: timekeeper)
        socket = try ListeningSocket(address: configuration.bindAddress, port: configuration.port)
        port = socket.port
        daemon = try MicrohttpdDaemon(socket, context: context)
        do {
            try WatchThread.start(context: context, daemon: daemon)
        } catch {
            daemon.stop()
            throw error
        }
    }

    deinit {
        stopAccepting()
        context.watch.update { $0.stopDeadline = $0.stopDeadline ?? .zero }
    }

    package var connectionCount: Int { context.connectionCount }

    /// Stops accepting connections; open ones close after their next response, idle ones at once.
    ///
    /// An idle connection that has just opened first gets time for a request.
    package func stopAccepting() {
        let wasListening = isListening.withLock { isListening in
            defer { isListening = false }
            return isListening
        }
        guard wasListening else { return }
        // Clients that have already connected are accepted: their requests may be on the way.
        daemon.acceptWaiting(on: socket, atMost: ListeningSocket.backlog)
        socket.stopListening(replacement: context.watch.wakeReader)
        context.drain()
        context.watch.update { $0.isDraining = true }
    }

    /// Stops the server: waits up to `timeLimit` for requests in progress, then cancels the rest.
    ///
    /// - Parameter willAbort: Called, possibly more than once, before requests are aborted; their tasks are cancelled
    ///   as if the clients had disconnected.
    /// - Returns: true if no request was aborted.
    package func shutDown(timeLimit: Duration, willAbort: @escaping @Sendable () -> Void = {}) async -> Bool {
        stopAccepting()
        let deadline = context.timekeeper.now + timeLimit
        context.watch.update { commands in
            commands.stopDeadline = min(commands.stopDeadline ?? deadline, deadline)
            commands.willAbort = willAbort
        }
        return await context.watch.end()
    }
}
