import Downloading
import Recipes
import Telemetry
import Testing
import Text

@testable import ThumbnailPipeline

struct PipelineMetricsTests {
    @Test func `decodes and renders are counted by format and timed`() {
        let registry = MetricsRegistry()
        let metrics = PipelineMetrics(registry: registry)
        metrics.recordDecode(.jpeg, in: .milliseconds(3))
        metrics.recordDecode(.jpeg, in: .milliseconds(30))
        metrics.recordDecode(.png, in: .milliseconds(3))
        metrics.recordRender(.webp, in: .milliseconds(500))
        let lines = Set(registry.prometheusText.split(separator: "\n"))
        #expect(
            lines.isSuperset(of: [
                "alula_decodes_total{format=\"jpeg\"} 2", "alula_decodes_total{format=\"png\"} 1",
                #"alula_decode_seconds_count{format="jpeg"} 2"#, #"alula_decode_seconds_count{format="png"} 1"#,
                #"alula_decode_seconds_bucket{format="jpeg",le="0.005"} 1"#,
                #"alula_renders_total{format="webp"} 1"#, #"alula_render_seconds_count{format="webp"} 1"#,
                #"alula_render_seconds_sum{format="webp"} 0.5"#,
            ]))
    }

    @Test func `downloads are counted by outcome`() {
        let registry = MetricsRegistry()
        let observer = DownloadMetrics.observer(registry: registry)
        for transfer in [
            end(.success, 700, .milliseconds(3)), end(.success, 300, .milliseconds(30)),
            end(.timedOut, 11, .seconds(3)),
        ] { observer.onFinish(transfer) }
        observer.onCollapse()
        observer.onStart(.milliseconds(20))
        let lines = Set(registry.prometheusText.split(separator: "\n"))
        #expect(
            lines.isSuperset(of: [
                "alula_downloads_total{outcome=\"success\"} 2", "alula_downloads_total{outcome=\"timeout\"} 1",
                "alula_download_bytes_total 1011", "alula_download_seconds_count 3",
                "alula_download_seconds_sum 3.033", "alula_downloads_collapsed_total 1",
                "alula_downloads_total{outcome=\"not_found\"} 0", "alula_download_slot_wait_seconds_count 1",
                "alula_download_slot_wait_seconds_sum 0.02",
            ]))
        #expect(!registry.prometheusText.contains("origin=\""), "clients name these")
    }

    @Test func `transfers from named origins are counted by origin, from the start`() {
        let registry = MetricsRegistry()
        let named = OriginMetrics(registry: registry)
        named.prepare(Origins(["media", "shop"].map { Origin(name: $0, location: .folder(path: "/")) }))
        let observer = DownloadMetrics.observer(registry: registry, originMetrics: named)
        for transfer in [
            end(.success, 700, .seconds(3), from: "shop"), end(.notModified, 0, .seconds(1), from: "shop"),
            end(.canceled, 5, .seconds(1), from: "shop"),
            end(.timedOut, 11, .seconds(3), .timedOut, from: "shop"),
            end(.suspended, 0, .zero, .originSuspended(seconds: 3), from: "shop"),
            end(.failed, 0, .zero, from: "shop"),
        ] { observer.onFinish(transfer) }
        let lines = Set(registry.prometheusText.split(separator: "\n"))
        #expect(
            lines.isSuperset(of: [
                #"alula_origin_requests_total{origin="shop"} 6"#, #"alula_origin_requests_total{origin="media"} 0"#,
                #"alula_origin_bytes_total{origin="shop"} 716"#,
                #"alula_origin_failures_total{origin="shop",code="origin_timeout"} 1"#,
                #"alula_origin_failures_total{origin="shop",code="origin_suspended"} 1"#,
                #"alula_origin_failures_total{origin="shop",code="internal"} 1"#,
                #"alula_origin_failures_total{origin="media",code="origin_unreachable"} 0"#,
                #"alula_origin_seconds_count{origin="shop"} 5"#, #"alula_origin_seconds_sum{origin="shop"} 8"#,
                #"alula_origin_seconds_count{origin="media"} 0"#,
            ]))
    }

    private func end(
        _ outcome: DownloadOutcome, _ bytes: Int, _ duration: Duration, _ error: DownloadError? = nil,
        from origin: String? = nil
    ) -> FinishedTransfer {
        let named = origin.map { name in
            DownloadRules(DownloadConfiguration(origins: [Origin(name: name, location: .folder(path: "/"))]))
        }
        let identity = try? named?.identity(of: ExactText("\(origin ?? ""):a"))
        return FinishedTransfer(
            identity ?? SourceIdentity(uploaded: "a"), outcome: outcome, error: error, receivedBytes: bytes,
            duration: duration)
    }
}
