import Coordination
import Downloading
import Glibc
import HTTPServing
import Program
package import Settings
import Telemetry
import ThumbnailAPI

package enum Lifecycle {
    /// Runs until SIGTERM or SIGINT; a second signal exits immediately.
    ///
    /// SIGHUP reloads the settings.
    ///
    /// - Parameter read: Reads the settings again.
    package static func run(
        _ settings: Settings, isDemo: Bool, rereading read: @escaping SettingsReloads.Reader
    ) -> Never {
        // Block signals before any thread exists, including the log's, so that all threads inherit the mask and only
        // the wait below receives signals.
        let signals = AwaitedSignals([SIGTERM, SIGINT, SIGHUP])
        signal(SIGPIPE, SIG_IGN)
        let sink = DescriptorSink(format: settings.logFormat)
        let threshold = LogThreshold(settings.logLevel)
        let logger = Logger(threshold, sink: sink)
        // The first log line must contain the ports, so defer the lines of the start.
        let early = DeferringSink(sink)
        do {
            var settings = settings
            let manager = try ServiceManager(Program.environment)
            let configuredConnections = settings.publicListener.maximumConnections
            try DescriptorLimit.raise(toServe: &settings)
            let demo = isDemo ? try Demo(logger: logger) : nil
            manager.passSockets(to: &settings)
            try demo?.configure(&settings)
            let reloads = SettingsReloads(
                {
                    var settings = try read()
                    try demo?.configure(&settings)
                    try settings.downloads.origins.checkFiles(exceptOf: settings.resultStore.origin)
                    return settings
                }, manager: manager, threshold: threshold)
            let service = try Service(settings, logger: Logger(threshold, sink: early), reloads: reloads)
            logPorts(of: service, settings: settings, to: sink)
            early.open()
            manager.reportReady()
            manager.startWatchdog(by: SystemTimekeeper())
            Sandbox.report(service.sandbox, to: logger)
            report(settings, configuredConnections: configuredConnections, to: logger)
            demo?.greet(port: service.publicServer.port, adminPort: service.adminServer.port)
            releaseProgramPages()
            // The thread that waits for signals must not wait for files.
            blockUntilEnd(signals) { Task { _ = try? await reloads.reload() } }
            manager.reportStopping()
            stop(service, settings: settings, logger: logger, sink: sink)
            blockUntilEnd(signals) {}
            // The demo's origin ends with its last use, which is here.
            withExtendedLifetime(demo) {}
            _exit(1)
        } catch {
            early.open()
            sink.flush()
            Program.fail(["alula: cannot start: \(error)\(remedy(for: error))"], status: ExitStatus.cannotStart)
        }
    }

    /// Logs the ports at any level, because nothing else reports automatically chosen ones.
    private static func logPorts(of service: Service, settings: Settings, to sink: DescriptorSink) {
        Logger(level: .info, sink: sink).info(
            "listening",
            [
                "port": port(of: service.publicServer, listener: settings.publicListener),
                "adminPort": port(of: service.adminServer, listener: settings.adminListener),
                "version": .string(Program.version), "revision": .string(Program.revision),
            ])
    }

    /// Exits when pending requests have finished.
    private static func stop(_ service: Service, settings: Settings, logger: Logger, sink: DescriptorSink) {
        logger.info("draining")
        Task {
            await service.shutDown(settings)
            logger.info("stopped")
            sink.flush()
            exit(0)
        }
    }

    /// Returns the port, or the address of a Unix socket.
    private static func port(of server: HTTPServer, listener: HTTPServerConfiguration) -> Logger.MetadataValue {
        listener.socketPath == nil ? .int(Int(server.port)) : .string(listener.bindAddress)
    }

    /// Logs the settings, and variables that have no effect.
    private static func report(_ settings: Settings, configuredConnections: Int, to logger: Logger) {
        OtherServiceVariable.report(settings.otherServiceVariables, to: logger)
        IgnoredVariable.report(settings.exports.ignored, to: logger)
        for warning in settings.warnings(memory: SystemMemory().limit) {
            logger.warning(warning.message, warning.values)
        }
        if !settings.api.closedDialects.isEmpty {
            logger.info(
                "dialects reject unsigned requests because other dialects have keys or limits",
                ["dialects": .string(settings.api.closedDialects.joined(separator: ","))])
        }
        let connections = settings.publicListener.maximumConnections
        if connections < configuredConnections {
            logger.warning(
                "maxConnections lowered: open file limit too low",
                ["maxConnections": .int(connections), "usual": .int(configuredConnections)])
        }
    }

    /// - Parameter reload: Called after each SIGHUP.
    private static func blockUntilEnd(_ signals: AwaitedSignals, reload: () -> Void) {
        while signals.blockingNext() == SIGHUP { reload() }
    }

    /// Returns a hint about a setting that the error does not name.
    private static func remedy(for error: any Error) -> String {
        if case HTTPServerError.cannotListen(_, _, EADDRINUSE) = error {
            "; --port and --admin-port choose others"
        } else {
            ""
        }
    }
}
