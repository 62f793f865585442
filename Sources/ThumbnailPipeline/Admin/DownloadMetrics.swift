import Coordination
package import Downloading
package import Telemetry
import ThumbnailTypes

package enum DownloadMetrics {
    /// - Parameter originMetrics: Nil if the settings name no origins.
    package static func observer(
        registry: MetricsRegistry, events: EventLog? = nil, originMetrics: OriginMetrics? = nil
    ) -> DownloadObserver {
        let outcomes = registry.counters(
            "alula_downloads_total", help: "Finished transfers.", labels: "outcome", counting: "transfer")
        for outcome in DownloadOutcome.allCases { _ = outcomes.counter(outcome.rawValue) }
        let collapsed = registry.counter(
            "alula_downloads_collapsed_total", help: "Requests that joined a running transfer.", counting: "request")
        let bytes = registry.counter("alula_download_bytes_total", help: "Source bytes received.")
        let retries = registry.counter("alula_download_retries_total", help: "Retried transfers.", counting: "transfer")
        // The server's name is not an attribute: clients choose it, so the number of series would be unbounded.
        let seconds = registry.histograms(
            "alula_download_seconds", help: "Time of a transfer, including redirects.",
            otlp: OTLPMetric(
                "http.client.request.duration", unit: "s", attributes: ["http.request.method", "error.type"]))
        let slotWait = registry.histogram(
            "alula_download_slot_wait_seconds", help: "Time that a transfer waited for its download slot.")
        var observer = DownloadObserver(
            onFinish: { transfer in
                outcomes.counter(transfer.outcome.rawValue).increment()
                bytes.increment(by: transfer.receivedBytes)
                seconds.histogram("GET", transfer.isSuccess ? "" : transfer.outcome.rawValue)
                    .observe(transfer.duration.seconds)
                if let name = transfer.identity.originName { originMetrics?.record(transfer, from: name) }
            }, onStart: { slotWait.observe($0.seconds) },
            onCollapse: { collapsed.increment() }, onRetry: { retries.increment() })
        if let events {
            observer.onTransferReport = { events.record(ServiceEvent($0)) }
            observer.onActivityChange = { events.record(.activity(isActive: $0)) }
        }
        return observer
    }
}

extension FinishedTransfer {
    var isSuccess: Bool { [.success, .notModified].contains(outcome) }

    var errorCode: String? {
        if let error { return error.code }
        if isSuccess { return nil }
        return (outcome == .canceled ? ErrorCode.canceled : .internal).rawValue
    }
}

extension ServiceEvent {
    init(_ report: TransferReport) {
        var state = DownloadState.progress
        var downloadEnd = DownloadEnd?.none
        switch report.state {
        case .started: state = .started
        case .progress: break
        case .ended(let end):
            switch end.outcome {
            case .success, .notModified: state = .finished
            case .canceled: state = .canceled
            default: state = .failed
            }
            downloadEnd = DownloadEnd(timings: end.timings.steps, error: end.errorCode, resumedAt: end.resumedAt)
        }
        self = .download(
            url: report.identity.name, state: state, bytes: report.receivedBytes, total: report.expectedBytes,
            end: downloadEnd)
    }

    package init(_ origin: OriginSnapshot) {
        self = .origin(origin.origin.description, state: OriginStatus(origin).state.rawValue)
    }
}
