import Coordination
import HTTPTypes

/// Ends headers and bodies that take too long, closes idle connections during a shutdown, and then stops the library.
///
/// Checks all connections a few times per `headerTimeout`, so requests that are in time have no overhead.
final class WatchThread: Sendable {
    private let context: ServingContext
    private let daemon: MicrohttpdDaemon
    private var timekeeper: any Timekeeper { context.timekeeper }

    private init(context: ServingContext, daemon: MicrohttpdDaemon) {
        self.context = context
        self.daemon = daemon
    }

    static func start(context: ServingContext, daemon: MicrohttpdDaemon) throws(HTTPServerError) {
        let watch = WatchThread(context: context, daemon: daemon)
        do {
            try WorkThread(named: "http-watch") { watch.run() }.detach()
        } catch {
            throw .cannotStart(systemError: error.systemError)
        }
    }

    private func run() {
        var isComplete = true
        var nextSample = timekeeper.now
        while true {
            let isLingering = context.lingering.drain(at: timekeeper.now)
            let limit = nextSample - timekeeper.now
            context.watch.wait(atMost: isLingering ? min(limit, .milliseconds(20)) : limit)
            let commands = context.watch.commands
            let now = timekeeper.now
            if commands.isDraining || now >= nextSample {
                checkConnections(at: now, isDraining: commands.isDraining)
                nextSample = now + interval(isDraining: commands.isDraining)
            }
            guard let deadline = commands.stopDeadline else { continue }
            if now >= deadline {
                if isComplete { commands.willAbort() }
                for connection in context.openConnections where connection.abort() { isComplete = false }
            }
            // A connection that was just accepted may not be listed as open yet.
            if context.isIdle, context.connectionCount == 0 || now >= deadline { break }
        }
        daemon.stop()
        context.lingering.closeAll()
        context.watch.finish(isComplete: isComplete)
    }

    private func checkConnections(at now: Duration, isDraining: Bool) {
        for connection in context.openConnections {
            connection.closeLateBody(at: now) { lastResponse(.bodyTimeout) }
            connection.wakeForAbandonedBody()
            if connection.isHeaderOverdue(at: now, limit: context.configuration.headerTimeout) {
                connection.closeIdle(lastResponse: lastResponse(.headerTimeout))
            } else if isDraining, !connection.isExpectingRequest(at: now) {
                connection.closeIdle(lastResponse: nil)
            }
        }
    }

    private func lastResponse(_ rejection: HTTPRejection) -> [UInt8] {
        RejectionText.bytes(of: context.responder.response(to: rejection), at: timekeeper.secondsSince1970)
    }

    private func interval(isDraining: Bool) -> Duration {
        if isDraining { return .milliseconds(10) }
        return min(max(context.configuration.headerTimeout / 10, .milliseconds(10)), .milliseconds(500))
    }
}
