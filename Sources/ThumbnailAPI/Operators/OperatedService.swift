package import Telemetry
package import ThumbnailPipeline

/// The running service, as its operators see and control it.
package struct OperatedService: Sendable {
    /// The version of the service.
    let version: String
    /// The name of this instance for operators.
    let instance: String
    /// Shows and controls caches, downloads and origins.
    let control: any ServiceControlling
    /// Runs the jobs that make thumbnails before they are requested.
    let prefetching: any Prefetching
    /// How far the shutdown has come.
    let lifecycle: ServiceLifecycle
    /// Sends events to their readers.
    let events: EventFeed
    /// The figures of the last ten minutes.
    let history: StatsHistory
    /// All metrics in Prometheus' text format.
    let metricsText: @Sendable () -> String

    /// The service of these parts.
    package init(
        version: String, instance: String, control: any ServiceControlling, prefetching: any Prefetching,
        lifecycle: ServiceLifecycle, events: EventFeed, history: StatsHistory,
        metricsText: @escaping @Sendable () -> String
    ) {
        self.version = version
        self.instance = instance
        self.control = control
        self.prefetching = prefetching
        self.lifecycle = lifecycle
        self.events = events
        self.history = history
        self.metricsText = metricsText
    }
}
