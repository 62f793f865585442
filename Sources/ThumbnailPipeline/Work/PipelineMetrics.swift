package import Coordination
import Recipes
package import Telemetry

package struct PipelineMetrics: Sendable {
    private let decodes: CounterFamily
    private let decodeSeconds: HistogramFamily
    private let renders: CounterFamily
    private let renderSeconds: HistogramFamily
    private let faceSearches: Counter
    private let rejections: Counter
    let usage: WorkUsage

    package init(registry: MetricsRegistry, timekeeper: any Timekeeper = SystemTimekeeper()) {
        usage = WorkUsage(registry: registry, timekeeper: timekeeper)
        decodes = registry.counters("alula_decodes_total", help: "Images decoded.", labels: "format", counting: "image")
        for format in ImageFormat.allCases { _ = decodes.counter(format.rawValue) }
        decodeSeconds = registry.histograms(
            "alula_decode_seconds", help: "Decode time, including the queue wait.", labels: "format")
        renders = registry.counters(
            "alula_renders_total", help: "Thumbnails rendered and encoded.", labels: "format", counting: "thumbnail")
        for format in ImageFormat.allCases where format.isWritten { _ = renders.counter(format.rawValue) }
        renderSeconds = registry.histograms(
            "alula_render_seconds", help: "Render and encode time, including the queue wait.", labels: "format")
        faceSearches = registry.counter(
            "alula_face_searches_total", help: "Images searched for faces.", counting: "image")
        rejections = registry.counter(
            "alula_overload_refusals_total", help: "Misses rejected before any work.", counting: "request")
    }

    func recordRejection() { rejections.increment() }

    func recordFaceSearch() { faceSearches.increment() }

    var counts: (decodes: Int, renders: Int) { (decodes.sum, renders.sum) }

    func recordDecode(_ format: ImageFormat, in duration: Duration) {
        decodes.counter(format.rawValue).increment()
        decodeSeconds.histogram(format.rawValue).observe(duration.seconds)
    }

    func recordRender(_ format: ImageFormat, in duration: Duration) {
        renders.counter(format.rawValue).increment()
        renderSeconds.histogram(format.rawValue).observe(duration.seconds)
    }
}
