package import Coordination
package import Imaging

/// What work on images is done with: threads, memory, the codec, and the metrics that count it.
package struct WorkResources: Sendable {
    let lanes: WorkLanes
    let codec: any ImageCodec
    let budget: MemoryBudget
    let metrics: PipelineMetrics

    /// These resources.
    ///
    /// - Parameters:
    ///   - lanes: The threads.
    ///   - codec: Decodes, and writes what is encoded in one step.
    ///   - budget: The memory that work may take.
    ///   - metrics: Counts and times the work.
    package init(
        lanes: WorkLanes, codec: any ImageCodec = InProcessCodec(), budget: MemoryBudget = MemoryBudget(),
        metrics: PipelineMetrics
    ) {
        self.lanes = lanes
        self.codec = codec
        self.budget = budget
        self.metrics = metrics
    }
}
