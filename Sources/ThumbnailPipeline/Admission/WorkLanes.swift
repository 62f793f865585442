package import Coordination
import Recipes

/// The threads for image work: small work runs on one thread per worker, expensive work on its own threads, in turns.
///
/// Expensive work never occupies the threads of small work: even one worker has two threads. Only work that has a turn
/// reserves memory: reservations of waiting work would keep memory from work that could use it.
package struct WorkLanes: Sendable {
    package enum Lane: Sendable, CaseIterable {
        case small
        case expensive
    }

    package let small: WorkerPool
    package let expensive: WorkerPool
    package let turns: ConcurrencyLimiter
    /// Two turns per thread, so that the next piece of work is ready when a thread becomes free.
    package let smallTurns: ConcurrencyLimiter

    /// - Parameter maximumWaiting: The queue length of each lane.
    package init(
        small: WorkerPool, expensive: WorkerPool, maximumWaiting: Int, timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.small = small
        self.expensive = expensive
        turns = ConcurrencyLimiter(
            maximumConcurrency: expensive.threadCount, maximumWaiting: maximumWaiting, timekeeper: timekeeper)
        smallTurns = ConcurrencyLimiter(
            maximumConcurrency: 2 * small.threadCount, maximumWaiting: maximumWaiting, timekeeper: timekeeper)
    }

    package func setMaximumWaiting(_ count: Int) {
        for turns in [turns, smallTurns] { turns.setMaximumWaiting(count) }
        for pool in [small, expensive] { pool.setMaximumQueued(count) }
    }

    package static func expensiveThreadCount(beside workers: Int) -> Int { max(1, workers / 2) }

    func workers(for cost: Duration) -> WorkerPool { cost.isExpensive ? expensive : small }

    func turns(in lane: Lane) -> ConcurrencyLimiter { lane == .small ? smallTurns : turns }

    /// Returns the work that would be ahead of the flow's next work.
    func queue(of lane: Lane, for flow: Int) -> (backlog: Backlog, maximumConcurrency: Int) {
        switch lane {
        case .small: (smallBacklog(of: flow), small.threadCount)
        case .expensive: (turns.backlog(of: flow), turns.maximumConcurrency)
        }
    }

    package var smallBacklog: Backlog { smallBacklog(of: nil) }

    private func smallBacklog(of flow: Int?) -> Backlog {
        let turns = smallTurns.backlog(of: flow), threads = small.backlog
        // Little work has a turn and waits for a thread. A flow with fewer turns than threads ignores that wait.
        let hasShare = flow.map { smallTurns.runningCount(of: $0) >= small.threadCount } ?? true
        let others = hasShare ? threads.count : max(0, threads.count - smallTurns.runningCount)
        guard hasShare || others > 0 else { return turns }
        return Backlog(
            count: turns.count + others, delay: turns.delay + threads.delay, age: max(turns.age, threads.age))
    }

    var runningCount: Int { small.runningCount + expensive.runningCount }

    func waitingCount(of flow: Int) -> Int { [smallTurns, turns].reduce(0) { $0 + $1.waitingCount(of: flow) } }

    package var waitingCount: Int { small.queuedCount + smallTurns.backlog.count + turns.backlog.count }
}
