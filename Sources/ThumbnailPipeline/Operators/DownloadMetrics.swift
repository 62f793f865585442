package import Downloading
package import Telemetry

/// Counts what the downloader reports, under the contract's names.
package enum DownloadMetrics {
    /// Registers the metrics; returns the observer that counts them.
    package static func observer(registry: MetricsRegistry) -> DownloadObserver {
        let outcomes = registry.counters("alula_downloads_total", help: "Transfers ended.", labels: "outcome")
        let collapsed = registry.counter("alula_downloads_collapsed_total", help: "Requests that joined a transfer.")
        let bytes = registry.counter("alula_download_bytes_total", help: "Bytes of sources received.")
        let retries = registry.counter("alula_download_retries_total", help: "Transfers that tried again.")
        return DownloadObserver(
            finished: { outcome, count in
                outcomes.counter(outcome.rawValue).increment()
                bytes.increment(by: count)
            },
            collapsed: { collapsed.increment() }, retried: { retries.increment() })
    }
}
