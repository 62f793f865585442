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
