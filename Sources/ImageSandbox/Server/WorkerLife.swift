import Coordination

/// How long a worker is used; an attacker who controls a worker sees other clients' images for no longer than this.
package struct WorkerLife: Hashable, Sendable {
    /// Number of images.
    package var requests: Int
    package var processorTime: Duration
    /// Time since its start; it is checked after each image.
    package var time: Duration

    /// For decoders, which see files.
    ///
    /// A start takes about 54 ms of CPU time without a template: less than 1 % of what a worker uses in its life, or of
    /// what the service uses for as many images of the usual size.
    package static let decoder = WorkerLife(
        requests: 500, processorTime: .seconds(8), time: .seconds(600))
    /// For encoders, which see only pixels and have no spare.
    package static let encoder = WorkerLife(
        requests: 10_000, processorTime: .seconds(60), time: .seconds(3_600))

    /// The share of its life that a worker has used, 1 for all of it.
    func age(of worker: WorkerProcess) -> Double {
        max(
            Double(worker.requests) / Double(requests), worker.restingTime / processorTime,
            (SystemTimekeeper().now - worker.start) / time)
    }
}
