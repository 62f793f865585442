import Coordination

/// Decides whether cache misses may proceed: the only place that rejects them, before any work is done for them.
///
/// Time on the worker threads is scarce, so a miss is admitted by the time it would wait for one, in the lane of its
/// cost. A burst is admitted as a whole if all of it can be served within ``maximumDelay``. If the queue has been
/// nonempty for that long, the load exceeds capacity. The bound is then halved: admitted misses are served soon, the
/// threads never idle, and the queue is short when the flood ends. Hits, and misses that need no thread, are not
/// checked here.
struct MissAdmission: Sendable {
    let lanes: WorkLanes
    let maximumDelay: Duration

    func queueTimeout(in lane: WorkLanes.Lane) -> Duration {
        Self.queueTimeout(behind: lanes.queue(of: lane).backlog, maximumDelay: maximumDelay)
    }

    /// Returns the reason to reject a new miss; nil if it may proceed.
    ///
    /// Quick, and called on the event threads.
    func refusal(in lane: WorkLanes.Lane) -> WorkerPool.Full? {
        let (backlog, turns) = lanes.queue(of: lane)
        guard backlog.count >= turns, backlog.delay > Self.queueTimeout(behind: backlog, maximumDelay: maximumDelay)
        else { return nil }
        return WorkerPool.Full(delay: backlog.delay)
    }

    /// Admits or rejects a miss.
    ///
    /// - Throws: `WorkerPool.Full`.
    func admit(to lane: WorkLanes.Lane) throws(WorkerPool.Full) {
        if let refusal = refusal(in: lane) { throw refusal }
    }

    static func queueTimeout(behind backlog: Backlog, maximumDelay: Duration) -> Duration {
        backlog.age > maximumDelay ? maximumDelay / 2 : maximumDelay
    }
}
