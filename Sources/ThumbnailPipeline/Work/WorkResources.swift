package import Coordination
import Downloading
package import Imaging
import Recipes
package import Telemetry

package struct WorkResources: Sendable {
    let lanes: WorkLanes
    let codec: any ImageCodec
    let budget: MemoryBudget
    let metrics: PipelineMetrics
    let events: EventLog
    let logger: Logger
    let faceDetector: FaceDetector?

    /// - Parameter codec: Decodes images, and encodes formats that need a worker process.
    package init(
        lanes: WorkLanes, codec: any ImageCodec = InProcessCodec(), budget: MemoryBudget = MemoryBudget(),
        metrics: PipelineMetrics, events: EventLog = EventLog(), logger: Logger = .silent,
        faceDetector: FaceDetector? = nil
    ) {
        self.faceDetector = faceDetector
        self.lanes = lanes
        self.codec = codec
        self.budget = budget
        self.metrics = metrics
        self.events = events
        self.logger = logger
    }

    /// - Parameter work: CPU time.
    func recordDecode(
        _ image: DecodedImage, of source: SourceIdentity, format: ImageFormat, in duration: Duration, work: Duration
    ) {
        metrics.recordDecode(format, in: duration)
        metrics.usage.record(.decode, format: format, of: source, time: work)
        events.record(.decode(url: source.label, duration: duration, format: format.rawValue))
        if image.isRepaired {
            logger.debug(
                "damaged file decoded completely",
                ["source": .string(SourceLabel.text(source.label)), "format": .string(format.rawValue)])
        }
    }

    /// - Parameters:
    ///   - work: CPU time before the encoding.
    ///   - encoding: CPU time of the encoding.
    func recordRender(
        of source: SourceIdentity, format: ImageFormat, in duration: Duration, work: Duration, encoding: Duration
    ) {
        metrics.recordRender(format, in: duration)
        metrics.usage.record(.render, format: format, of: source, time: work)
        metrics.usage.record(.encode, format: format, of: source, time: encoding)
        events.record(.render(url: source.label, duration: duration, format: format.rawValue))
    }
}

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
