package import Coordination
import Downloading
package import Imaging
package import Telemetry

/// The resources for work on images: threads, memory, the codec, and the metrics and events that tell of it.
package struct WorkResources: Sendable {
    let lanes: WorkLanes
    let codec: any ImageCodec
    let budget: MemoryBudget
    let metrics: PipelineMetrics
    let events: EventLog

    /// These resources.
    ///
    /// - Parameters:
    ///   - lanes: The threads.
    ///   - codec: Decodes, and writes what is encoded in one step.
    ///   - budget: The memory that work may take.
    ///   - metrics: Counts and times the work.
    ///   - events: Takes each piece of work.
    package init(
        lanes: WorkLanes, codec: any ImageCodec = InProcessCodec(), budget: MemoryBudget = MemoryBudget(),
        metrics: PipelineMetrics, events: EventLog = EventLog()
    ) {
        self.lanes = lanes
        self.codec = codec
        self.budget = budget
        self.metrics = metrics
        self.events = events
    }

    /// Notes a decode.
    func decoded(_ source: SourceIdentity, _ format: ImageFormat, in duration: Duration) {
        metrics.decoded(format, in: duration)
        events.record(.decode(url: source.name, duration: duration, format: format.rawValue))
    }

    /// Notes a render.
    func rendered(_ source: SourceIdentity, _ format: ImageFormat, in duration: Duration) {
        metrics.rendered(format, in: duration)
        events.record(.render(url: source.name, duration: duration, format: format.rawValue))
    }
}

/// Counts and times decodes and renders under the contract's names.
package struct PipelineMetrics: Sendable {
    private let decodes: CounterFamily
    private let decodeSeconds: Histogram
    private let renders: CounterFamily
    private let renderSeconds: Histogram
    private let refusals: Counter

    /// Registers the metrics in `registry`.
    package init(registry: MetricsRegistry) {
        decodes = registry.counters("alula_decodes_total", help: "Images decoded.", labels: "format", counting: "image")
        decodeSeconds = registry.histogram(
            "alula_decode_seconds", help: "Time from asking for a worker to the decoded image.")
        renders = registry.counters(
            "alula_renders_total", help: "Thumbnails rendered and encoded.", labels: "format", counting: "thumbnail")
        renderSeconds = registry.histogram(
            "alula_render_seconds", help: "Time from asking for a worker to the encoded thumbnail.")
        refusals = registry.counter(
            "alula_overload_refusals_total", help: "Misses refused before any work.", counting: "request")
    }

    /// Counts a miss that was refused before any work.
    func refused() { refusals.increment() }

    /// Decodes and renders so far.
    var counts: (decodes: Int, renders: Int) { (decodes.sum, renders.sum) }

    func decoded(_ format: ImageFormat, in duration: Duration) {
        decodes.counter(format.rawValue).increment()
        decodeSeconds.observe(duration.seconds)
    }

    func rendered(_ format: ImageFormat, in duration: Duration) {
        renders.counter(format.rawValue).increment()
        renderSeconds.observe(duration.seconds)
    }
}
