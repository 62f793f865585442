import Coordination
import Downloading
import Glibc
import HTTPServing
import Telemetry
import ThumbnailAPI

/// The life of the serving process: limits, start, signals, end.
enum Lifecycle {
    /// Serves until SIGTERM or SIGINT; a second one exits at once.
    static func run(_ settings: Settings, logger: Logger, sink: DescriptorSink, isDemo: Bool) -> Never {
        // Before any thread exists, so that all inherit it and signals reach the wait below alone.
        let signals = AwaitedSignals([SIGTERM, SIGINT])
        signal(SIGPIPE, SIG_IGN)

        // The first log line must tell the ports; lines that the start writes come after it.
        let early = DeferringSink(sink)
        do {
            try DescriptorLimit.raise(toServe: settings)
            var settings = settings
            let demo = isDemo ? try Demo(configuring: &settings, logger: logger) : nil
            let service = try Service(settings, logger: Logger(level: settings.logLevel, sink: early))
            logger.info(
                "listening",
                [
                    "port": .int(Int(service.publicServer.port)), "adminPort": .int(Int(service.operatorServer.port)),
                    "version": .string(Program.version),
                ])
            early.open()
            Sandbox.report(service.sandbox, to: logger)
            ForeignVariable.report(settings.foreignVariables, to: logger)
            if !settings.api.closedDialects.isEmpty {
                logger.info(
                    "closed to unsigned requests by the keys or bounds of other dialects",
                    ["dialects": .string(settings.api.closedDialects.joined(separator: ","))])
            }
            demo?.greet(port: service.publicServer.port, operatorPort: service.operatorServer.port)
            releaseProgramPages()
            _ = signals.blockingNext()
            logger.info("draining")
            Task { [settings] in
                await service.shutDown(settings)
                logger.info("stopped")
                sink.flush()
                exit(0)
            }
            _ = signals.blockingNext()
            // The demo's origin ends with its last use, which is here.
            withExtendedLifetime(demo) {}
            _exit(1)
        } catch {
            early.open()
            sink.flush()
            Program.fail(["alula: cannot start: \(error)\(remedy(for: error))"], status: 69)
        }
    }

    /// How the operator can mend what stops the start, if that is a setting that the error does not name.
    private static func remedy(for error: any Error) -> String {
        if case HTTPServerError.cannotListen(_, _, EADDRINUSE) = error {
            "; --port and --admin-port choose others"
        } else {
            ""
        }
    }
}

/// The process's bound on open descriptors.
enum DescriptorLimit {
    /// The settings need more descriptors than the system grants.
    struct TooLow: Error, CustomStringConvertible {
        let granted: Int
        let needed: Int

        var description: String {
            "maxConnections and maxActiveDownloads need \(needed) descriptors, the system grants \(granted); "
                + "lower them or raise the limit (ulimit -n)"
        }
    }

    /// Raises the soft limit to the hard one.
    static func raise(toServe settings: Settings) throws(TooLow) {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let idleConnections = CurlLoader.maximumIdleConnections * (1 + settings.downloads.origins.all.count)
        let needed =
            settings.publicListener.maximumDescriptors + settings.operatorListener.maximumDescriptors
            + (settings.metricsListener?.maximumDescriptors ?? 0)
            + 2 * settings.downloads.maximumActiveDownloads + idleConnections + 18 * settings.renderWorkers + 128
        let granted = Int(clamping: limit.rlim_cur)
        if granted < needed { throw TooLow(granted: granted, needed: needed) }
    }
}
