import Coordination
package import Settings
import Telemetry
import ThumbnailAPI

/// Reloads the settings on SIGHUP and `POST /reload`, one reload at a time.
package final class SettingsReloads: Sendable {
    package typealias Reader = @Sendable () throws -> Settings

    private struct State {
        var settings = Settings()
        /// Applies the settings; nil until the service has started.
        var apply: (@Sendable (Settings) -> Settings)?
        var results: CounterFamily?
        var logger = Logger.silent
    }

    private let read: Reader?
    private let manager: ServiceManager?
    private let threshold: LogThreshold?
    /// Locked during a whole reload.
    private let state = Locked(State())

    /// - Parameters:
    ///   - read: Reads flags, environment and file; may block.
    ///   - threshold: The level of all loggers.
    init(_ read: Reader? = nil, manager: ServiceManager? = nil, threshold: LogThreshold? = nil) {
        self.read = read
        self.manager = manager
        self.threshold = threshold
    }

    /// - Parameter apply: Applies the settings, and returns them as they are in use; cannot fail.
    func begin(
        _ settings: Settings, registry: MetricsRegistry, logger: Logger,
        apply: @escaping @Sendable (Settings) -> Settings
    ) {
        let results = registry.counters(
            "alula_reloads_total", help: "Reloads of the settings by result.", labels: "result", counting: "reload")
        for result in ["ok", "failed"] { _ = results.counter(result) }
        state.withLock { $0 = State(settings: settings, apply: apply, results: results, logger: logger) }
    }

    /// Ends reloading.
    func end() { state.withLock { $0.apply = nil } }

    @Sendable
    func reload() async throws -> SettingsReload {
        let result = await WorkThread.value(named: "reload") { Result { try self.blockingReload() } }
        guard let result else { throw SettingsReload.Failure(lines: ["no thread"]) }
        return try result.get()
    }

    /// - Throws: ``SettingsReload/Failure``; the settings are then unchanged.
    @discardableResult
    func blockingReload() throws -> SettingsReload {
        try state.withLock { state in
            do {
                guard let read, let apply = state.apply else {
                    throw SettingsReload.Failure(lines: ["the service is starting or ending"])
                }
                var reloaded = try ReloadedSettings(state.settings, changedTo: try read())
                DescriptorLimit.fit(&reloaded, after: state.settings)
                manager?.reportReloading()
                defer { manager?.reportReady() }
                threshold?.level = reloaded.settings.logLevel
                state.settings = apply(reloaded.settings)
                state.results?.counter("ok").increment()
                return Self.report(reloaded, to: state.logger)
            } catch {
                let failure = SettingsReload.Failure(error)
                state.results?.counter("failed").increment()
                state.logger.error("settings not reloaded", ["detail": .string(failure.lines.joined(separator: "; "))])
                throw failure
            }
        }
    }

    private static func report(_ reloaded: ReloadedSettings, to logger: Logger) -> SettingsReload {
        let reload = SettingsReload(changed: reloaded.changed, needingRestart: reloaded.needingRestart)
        let changed = Logger.MetadataValue.string(reloaded.changed.joined(separator: ","))
        if let detail = reload.restartText {
            logger.warning("settings reloaded", ["changed": changed, "detail": .string(detail)])
        } else {
            logger.info("settings reloaded", ["changed": changed])
        }
        return reload
    }
}

extension SettingsReload.Failure {
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as SettingsReload.Failure: self = error
        case let error as SettingsLoader.Failure: self.init(lines: error.locatedLines)
        default: self.init(lines: ["\(error)"])
        }
    }
}
