import Coordination

/// Decides whether a cache miss may proceed: the only place that rejects misses, before any work starts.
///
/// A miss is admitted by its expected queue wait in the lane of its cost. Clients are queued fairly, so a burst from
/// one client barely delays the others. A burst is admitted completely if it can be served within ``maximumDelay``. If
/// the queue has been nonempty for that long, the load exceeds the capacity, and the bound is halved: admitted misses
/// are served soon, the threads stay busy, and the queue is short when the overload ends.
struct MissAdmission: Sendable {
    let lanes: WorkLanes
    let maximumDelay: Duration

    func queueTimeout(in lane: WorkLanes.Lane, for flow: Flow) -> Duration {
        Self.queueTimeout(behind: lanes.queue(of: lane, for: flow).backlog, maximumDelay: maximumDelay)
    }

    /// Called on the event threads.
    func rejection(in lane: WorkLanes.Lane, for flow: Flow) -> WorkerPool.Full? {
        let (backlog, threadCount) = lanes.queue(of: lane, for: flow)
        guard backlog.count >= threadCount,
            backlog.delay > Self.queueTimeout(behind: backlog, maximumDelay: maximumDelay)
        else { return nil }
        return WorkerPool.Full(delay: backlog.delay)
    }

    func admit(to lane: WorkLanes.Lane, for flow: Flow) throws(WorkerPool.Full) {
        if let rejection = rejection(in: lane, for: flow) { throw rejection }
    }

    static func queueTimeout(behind backlog: Backlog, maximumDelay: Duration) -> Duration {
        backlog.age > maximumDelay ? maximumDelay / 2 : maximumDelay
    }
}
