package import Coordination
import Recipes

/// The threads for image work: small work runs on one thread per worker, expensive work on separate threads.
///
/// Expensive work never occupies the threads of small work: even one worker has two threads. Only work with a permit
/// reserves memory: reservations of waiting work would keep memory from work that could use it.
package struct WorkLanes: Sendable {
    package enum Lane: Sendable, CaseIterable {
        case small
        case expensive
    }

    package let small: WorkerPool
    package let expensive: WorkerPool
    /// Two permits per thread, so that the next piece of work is ready when a thread becomes free.
    package let smallLimiter: ConcurrencyLimiter
    package let expensiveLimiter: ConcurrencyLimiter

    /// - Parameter maximumWaiting: The queue length of each lane.
    package init(
        small: WorkerPool, expensive: WorkerPool, maximumWaiting: Int, timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.small = small
        self.expensive = expensive
        expensiveLimiter = ConcurrencyLimiter(
            maximumConcurrency: expensive.threadCount, maximumWaiting: maximumWaiting, timekeeper: timekeeper)
        smallLimiter = ConcurrencyLimiter(
            maximumConcurrency: 2 * small.threadCount, maximumWaiting: maximumWaiting, timekeeper: timekeeper)
    }

    package func setMaximumWaiting(_ count: Int) {
        for limiter in [smallLimiter, expensiveLimiter] { limiter.setMaximumWaiting(count) }
        for pool in [small, expensive] { pool.setMaximumQueued(count) }
    }

    package static func expensiveThreadCount(beside workers: Int) -> Int { max(1, workers / 2) }

    func workers(for cost: Duration) -> WorkerPool { cost.isExpensive ? expensive : small }

    func limiter(of lane: Lane) -> ConcurrencyLimiter { lane == .small ? smallLimiter : expensiveLimiter }

    /// Returns the work that would be ahead of the flow's next work.
    func queue(of lane: Lane, for flow: Flow) -> (backlog: Backlog, threadCount: Int) {
        switch lane {
        case .small: (smallBacklog(of: flow), small.threadCount)
        case .expensive: (expensiveLimiter.backlog(of: flow), expensive.threadCount)
        }
    }

    package var smallBacklog: Backlog { smallBacklog(of: nil) }

    private func smallBacklog(of flow: Flow?) -> Backlog {
        let lane = smallLimiter.backlog(of: flow)
        let threads = small.backlog
        // Little work has a permit and waits for a thread. A flow with fewer permits than threads ignores that wait.
        let usesAllThreads = flow.map { smallLimiter.runningCount(of: $0) >= small.threadCount } ?? true
        let others = usesAllThreads ? threads.count : max(0, threads.count - smallLimiter.runningCount)
        guard usesAllThreads || others > 0 else { return lane }
        return Backlog(count: lane.count + others, delay: lane.delay + threads.delay, age: max(lane.age, threads.age))
    }

    var runningCount: Int { small.runningCount + expensive.runningCount }

    func waitingCount(of flow: Flow) -> Int {
        [smallLimiter, expensiveLimiter].reduce(0) { $0 + $1.waitingCount(of: flow) }
    }

    package var waitingCount: Int { small.queuedCount + smallLimiter.backlog.count + expensiveLimiter.backlog.count }
}
