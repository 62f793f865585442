import Coordination

/// An attacker who controls a worker sees other clients' images for no longer than this.
package struct WorkerLifetime: Hashable, Sendable {
    package var requests: Int
    package var processorTime: Duration
    /// Checked after each image.
    package var time: Duration

    /// Decoders read files.
    ///
    /// A start takes about 54 ms of CPU time without a template: less than 1 % of the time that a worker uses in its
    /// life, or that the service uses for as many images of typical size.
    package static let decoder = WorkerLifetime(
        requests: 500, processorTime: .seconds(8), time: .seconds(600))
    /// Encoders read only pixels and have no spare.
    package static let encoder = WorkerLifetime(
        requests: 10_000, processorTime: .seconds(60), time: .seconds(3_600))

    /// 1 for all of its life.
    func age(of worker: WorkerProcess) -> Double {
        max(
            Double(worker.requests) / Double(requests), worker.idleProcessorTime / processorTime,
            (SystemTimekeeper().now - worker.start) / time)
    }
}
