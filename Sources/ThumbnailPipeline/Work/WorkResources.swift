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

    func recordDecode(
        _ image: DecodedImage, of source: SourceIdentity, format: ImageFormat, in duration: Duration,
        processor: Duration
    ) {
        metrics.recordDecode(format, in: duration)
        metrics.usage.record(.decode, format: format, of: source, time: processor)
        events.record(.decode(url: source.label, duration: duration, format: format.rawValue))
        if image.isRepaired {
            logger.debug(
                "damaged file decoded completely",
                ["source": .string(SourceLabel.text(source.label)), "format": .string(format.rawValue)])
        }
    }

    func recordRender(
        of source: SourceIdentity, format: ImageFormat, in duration: Duration, processor: WorkClock.ProcessorTime
    ) {
        metrics.recordRender(format, in: duration)
        metrics.usage.record(.render, format: format, of: source, time: processor.work)
        metrics.usage.record(.encode, format: format, of: source, time: processor.encoding)
        events.record(.render(url: source.label, duration: duration, format: format.rawValue))
    }
}
