import Coordination

/// The limits of a worker's life, which bound how long an attacker in control of it sees other clients' images.
package struct WorkerLifetime: Hashable, Sendable {
    package var requests: Int
    package var processorTime: Duration
    /// The maximum age, checked after each image.
    package var time: Duration

    /// The lifetime of decoders, which read files.
    ///
    /// Without a template, a start takes about 54 ms of CPU time: less than 1 % of the time that a worker uses in its
    /// life, or that the service uses for as many images of typical size.
    package static let decoder = WorkerLifetime(requests: 500, processorTime: .seconds(8), time: .seconds(600))
    /// The lifetime of encoders, which read only pixels and have no spare.
    package static let encoder = WorkerLifetime(requests: 10_000, processorTime: .seconds(60), time: .seconds(3_600))

    /// Returns the age relative to the lifetime, where 1 is the end.
    func age(of worker: WorkerProcess) -> Double {
        max(
            Double(worker.requests) / Double(requests), worker.idleProcessorTime / processorTime,
            (SystemTimekeeper().now - worker.start) / time)
    }
}
