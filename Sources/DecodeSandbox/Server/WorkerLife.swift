import Coordination

/// How long a worker works: whoever took one over has it, and sees what others send, for no longer.
package struct WorkerLife: Hashable, Sendable {
    /// Pictures that it is given.
    package var requests: Int
    /// CPU time that it takes.
    package var processorTime: Duration
    /// Time since it was started, where it was used at all.
    package var time: Duration

    /// For those that see files.
    ///
    /// A start takes some 54 ms of CPU time: less than 1 % of what a worker does in its life, or the service for as many images of the usual
    /// size.
    package static let decoder = WorkerLife(
        requests: 500, processorTime: .seconds(8), time: .seconds(600))
    /// For those that see pixels only, and have no spare.
    package static let encoder = WorkerLife(
        requests: 10_000, processorTime: .seconds(60), time: .seconds(3_600))

    /// How much of its life a worker has behind it, 1 for all of it.
    func age(of worker: WorkerProcess) -> Double {
        max(
            Double(worker.requests) / Double(requests), worker.restingTime / processorTime,
            (SystemTimekeeper().now - worker.start) / time)
    }
}
