import Downloading
import Recipes
import Telemetry
import Testing

@testable import ThumbnailPipeline

struct PipelineMetricsTests {
    @Test func `decodes and renders are counted by format and timed`() {
        let registry = MetricsRegistry()
        let metrics = PipelineMetrics(registry: registry)
        metrics.decoded(.jpeg, in: .milliseconds(3))
        metrics.decoded(.jpeg, in: .milliseconds(30))
        metrics.decoded(.png, in: .milliseconds(3))
        metrics.rendered(.webp, in: .milliseconds(500))
        let lines = Set(registry.prometheusText.split(separator: "\n"))
        #expect(
            lines.isSuperset(of: [
                "alula_decodes_total{format=\"jpeg\"} 2", "alula_decodes_total{format=\"png\"} 1",
                "alula_decode_seconds_count 3", "alula_decode_seconds_bucket{le=\"0.005\"} 2",
                "alula_renders_total{format=\"webp\"} 1", "alula_render_seconds_count 1",
                "alula_render_seconds_sum 0.5",
            ]))
    }

    @Test func `downloads are counted by outcome`() {
        let registry = MetricsRegistry()
        let observer = DownloadMetrics.observer(registry: registry)
        observer.finished(.success, 700, .milliseconds(3))
        observer.finished(.success, 300, .milliseconds(30))
        observer.finished(.timedOut, 11, .seconds(3))
        observer.collapsed()
        let lines = Set(registry.prometheusText.split(separator: "\n"))
        #expect(
            lines.isSuperset(of: [
                "alula_downloads_total{outcome=\"success\"} 2", "alula_downloads_total{outcome=\"timeout\"} 1",
                "alula_download_bytes_total 1011", "alula_download_seconds_count 3",
                "alula_download_seconds_sum 3.033", "alula_downloads_collapsed_total 1",
            ]))
    }
}
