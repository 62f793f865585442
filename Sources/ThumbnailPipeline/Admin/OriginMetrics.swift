import Coordination
package import Downloading
package import Telemetry
import ThumbnailTypes

/// Metrics by named origin; only the settings define these names, so that labels are bounded.
package struct OriginMetrics: Sendable {
    private let requests: CounterFamily
    private let failures: CounterFamily
    private let bytes: CounterFamily
    private let seconds: HistogramFamily

    package init(registry: MetricsRegistry) {
        requests = registry.counters(
            "alula_origin_requests_total", help: "Finished transfers from a named origin.", labels: "origin",
            counting: "transfer")
        failures = registry.counters(
            "alula_origin_failures_total", help: "Failed transfers from a named origin by error code.",
            labels: "origin", "code", counting: "transfer")
        bytes = registry.counters(
            "alula_origin_bytes_total", help: "Source bytes received from a named origin.", labels: "origin")
        seconds = registry.histograms(
            "alula_origin_seconds", help: "Duration of transfers from a named origin, excluding rejected ones.",
            labels: "origin")
    }

    /// Creates the counters of all origins, so that they start at 0.
    package func prepare(_ origins: Origins) {
        for name in origins.all.map(\.name) {
            for family in [requests, bytes] { _ = family.counter(name) }
            for code in ErrorCode.ofTransfers { _ = failures.counter(name, code.rawValue) }
            _ = seconds.histogram(name)
        }
    }

    func record(_ transfer: FinishedTransfer, from name: String) {
        requests.counter(name).increment()
        bytes.counter(name).increment(by: transfer.receivedBytes)
        if ![.suspended, .held].contains(transfer.outcome) {
            seconds.histogram(name).observe(transfer.duration.seconds)
        }
        guard transfer.outcome != .canceled, let code = transfer.errorCode else { return }
        failures.counter(name, code).increment()
    }
}

extension ErrorCode {
    /// The error codes of transfers that had a slot.
    fileprivate static let ofTransfers: [ErrorCode] = [
        .originUnreachable, .originProtocolError, .originTLSError, .originError, .originTimeout, .originSuspended,
        .originHeld, .sourceNotFound, .sourceNotAllowed, .sourceTooLarge, .notAnImage, .tooManyRedirects, .overloaded,
        .internal,
    ]
}
