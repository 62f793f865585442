import Coordination
package import Downloading
package import Telemetry

package enum DownloadMetrics {
    package static func observer(registry: MetricsRegistry, events: EventLog? = nil) -> DownloadObserver {
        let outcomes = registry.counters(
            "alula_downloads_total", help: "Finished transfers.", labels: "outcome", counting: "transfer")
        let collapsed = registry.counter(
            "alula_downloads_collapsed_total", help: "Requests that joined a running transfer.", counting: "request")
        let bytes = registry.counter("alula_download_bytes_total", help: "Source bytes received.")
        let retries = registry.counter("alula_download_retries_total", help: "Retried transfers.", counting: "transfer")
        // The server's name is not an attribute: clients choose it, so its values are unbounded.
        let seconds = registry.histograms(
            "alula_download_seconds", help: "Time of a transfer, including redirects.",
            otlp: OTLPMetric(
                "http.client.request.duration", unit: "s", attributes: ["http.request.method", "error.type"]))
        var observer = DownloadObserver(
            finished: { outcome, count, duration in
                outcomes.counter(outcome.rawValue).increment()
                bytes.increment(by: count)
                let isWell = [.success, .notModified].contains(outcome)
                seconds.histogram("GET", isWell ? "" : outcome.rawValue).observe(duration.seconds)
            },
            collapsed: { collapsed.increment() }, retried: { retries.increment() })
        if let events {
            observer.transfer = { events.record(ServiceEvent($0)) }
            observer.activity = { events.record(.activity(isActive: $0)) }
        }
        return observer
    }
}

extension ServiceEvent {
    init(_ report: TransferReport) {
        let state: DownloadState =
            switch report.state {
            case .started: .started
            case .progress: .progress
            case .ended(.success), .ended(.notModified): .finished
            case .ended(.cancelled): .cancelled
            case .ended: .failed
            }
        self = .download(
            url: report.identity.name, state: state, bytes: report.receivedBytes, total: report.expectedBytes)
    }

    package init(_ origin: OriginSnapshot) {
        self = .origin(origin.origin.description, state: OriginStatus(origin).state.rawValue)
    }
}
