package import Coordination
package import HTTPTypes
package import Telemetry

/// The HTTP server, which runs on libmicrohttpd's event threads and the `http-watch` thread.
package final class HTTPServer: Sendable {
    package let port: UInt16
    private let socket: ListeningSocket
    private let context: ServingContext
    private let daemon: MicrohttpdDaemon
    /// Accepts on an inherited socket; nil if the library accepts.
    private let acceptThread: AcceptThread?
    private let isListening = Locked(true)

    /// Starts the server; clients can connect when it returns.
    ///
    /// - Parameters:
    ///   - logger: Logs events unrelated to a single request.
    ///   - timekeeper: The clock for headers, bodies and the shutdown; idle connections and stalled readers follow the
    ///     system's clock.
    package init(
        _ configuration: HTTPServerConfiguration, responder: any RequestResponder, logger: Logger,
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws(HTTPServerError) {
        let watch = try ConnectionWatch()
        context = ServingContext(
            configuration: configuration, responder: responder, logger: logger, watch: watch, timekeeper: timekeeper)
        socket = try ListeningSocket(configuration)
        port = socket.port
        daemon = try MicrohttpdDaemon(socket, context: context)
        var acceptThread: AcceptThread?
        do {
            if socket.isInherited { acceptThread = try AcceptThread(on: socket, to: daemon) }
            try WatchThread.start(context: context, daemon: daemon)
        } catch {
            acceptThread?.stop()
            daemon.stop()
            throw error
        }
        self.acceptThread = acceptThread
    }

    deinit {
        stopAccepting()
        context.watch.update { $0.stopDeadline = $0.stopDeadline ?? .zero }
    }

    package var connectionCount: Int { context.connectionCount }

    /// Stops accepting; open connections close after their next response, idle ones immediately.
    ///
    /// A connection that was just opened or used first gets time for a request that may be on the way.
    package func stopAccepting() {
        guard isListening.exchange(false) else { return }
        if let acceptThread {
            acceptThread.stop()
        } else {
            // Accept clients that are already connected, because their requests may be on the way.
            daemon.acceptWaiting(on: socket, atMost: ListeningSocket.backlog)
            socket.stopListening(replacement: context.watch.wakeReader)
        }
        context.drain()
        context.watch.update { $0.isDraining = true }
    }

    /// Waits for requests in progress, then cancels the remaining ones; returns true if none was aborted.
    ///
    /// - Parameter willAbort: Called, possibly more than once, before requests are aborted; their tasks are canceled
    ///   as if the clients had disconnected.
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
