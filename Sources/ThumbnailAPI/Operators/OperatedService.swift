package import Telemetry
package import ThumbnailPipeline

/// The running service, as its operators see and control it.
package struct OperatedService: Sendable {
    /// The version of the service.
    let version: String
    /// What operators see this instance as.
    let instance: String
    /// Shows and controls caches, downloads and origins.
    let control: any ServiceControlling
    /// Runs the jobs that make thumbnails before they are requested.
    let prefetching: any Prefetching
    /// How far the shutdown has come.
    let lifecycle: ServiceLifecycle
    /// Sends events to their readers.
    let events: EventFeed
    /// All metrics in Prometheus' text format.
    let metricsText: @Sendable () -> String

    /// The service of these parts.
    package init(
        version: String, instance: String, control: any ServiceControlling, prefetching: any Prefetching,
        lifecycle: ServiceLifecycle, events: EventFeed, metricsText: @escaping @Sendable () -> String
    ) {
        self.version = version
        self.instance = instance
        self.control = control
        self.prefetching = prefetching
        self.lifecycle = lifecycle
        self.events = events
        self.metricsText = metricsText
    }
}
