package import Coordination
import Recipes

/// The threads for work on images: small work runs on one thread per worker, expensive work on its own threads, in
/// turns.
///
/// Expensive work, however much is requested, takes none of the threads that small work needs. This is true even with a
/// single worker: there are then two threads, which share a processor. In both lanes only work that has a turn reserves
/// memory: when all waiting work had reservations, 128 concurrent misses reserved 413 MB where 188 MB were in use.
package struct WorkLanes: Sendable {
    package enum Lane: Sendable, CaseIterable {
        /// Work with a cost below ``Duration/isExpensive``, like thumbnails.
        case small
        /// Work with a cost of at least ``Duration/isExpensive``.
        case expensive
    }

    package let small: WorkerPool
    /// The threads for expensive work, one per turn.
    package let expensive: WorkerPool
    package let turns: ConcurrencyLimiter
    /// Limits concurrent small work: two turns per thread, so that a thread that finishes a piece of work finds the
    /// next one ready.
    package let smallTurns: ConcurrencyLimiter

    /// - Parameter maximumWaiting: The number of pieces of work that may wait for a turn in each lane.
    package init(
        small: WorkerPool, expensive: WorkerPool, maximumWaiting: Int, timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.small = small
        self.expensive = expensive
        turns = ConcurrencyLimiter(
            maximumTurns: expensive.threadCount, maximumWaiting: maximumWaiting, timekeeper: timekeeper)
        smallTurns = ConcurrencyLimiter(
            maximumTurns: 2 * small.threadCount, maximumWaiting: maximumWaiting, timekeeper: timekeeper)
    }

    /// Returns the number of threads for expensive work: half the number of workers, at least 1.
    package static func expensiveThreadCount(beside workers: Int) -> Int { max(1, workers / 2) }

    func workers(for cost: Duration) -> WorkerPool { cost.isExpensive ? expensive : small }

    /// Returns the current backlog of a lane, and the number of entrants that may always wait.
    func queue(of lane: Lane) -> (backlog: Backlog, maximumTurns: Int) {
        switch lane {
        case .small: (smallBacklog, small.threadCount)
        case .expensive: (turns.backlog, turns.maximumTurns)
        }
    }

    /// The work that waits for a turn in the small lane, or has one and waits for a thread.
    package var smallBacklog: Backlog {
        let (turns, threads) = (smallTurns.backlog, small.backlog)
        return Backlog(
            count: turns.count + threads.count, delay: turns.delay + threads.delay, age: max(turns.age, threads.age))
    }

    var runningCount: Int { small.runningCount + expensive.runningCount }

    package var waitingCount: Int { small.queuedCount + smallTurns.backlog.count + turns.backlog.count }
}
