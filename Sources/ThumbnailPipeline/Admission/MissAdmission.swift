import Coordination

/// Decides whether cache misses may proceed: the only place that rejects them, before any work is done for them.
///
/// A miss is admitted by the time it would wait for a worker thread, in the lane of its cost, where clients take turns:
/// another client's flood hardly counts. A burst is admitted as a whole if all of it can be served within
/// ``maximumDelay``. If the queue has been nonempty for that long, the load exceeds capacity, and the bound is halved:
/// admitted misses are served soon, the threads never idle, and the queue is short when the flood ends.
struct MissAdmission: Sendable {
    let lanes: WorkLanes
    let maximumDelay: Duration

    func queueTimeout(in lane: WorkLanes.Lane, for flow: Int) -> Duration {
        Self.queueTimeout(behind: lanes.queue(of: lane, for: flow).backlog, maximumDelay: maximumDelay)
    }

    /// Called on the event threads.
    func rejection(in lane: WorkLanes.Lane, for flow: Int) -> WorkerPool.Full? {
        let (backlog, turns) = lanes.queue(of: lane, for: flow)
        guard backlog.count >= turns, backlog.delay > Self.queueTimeout(behind: backlog, maximumDelay: maximumDelay)
        else { return nil }
        return WorkerPool.Full(delay: backlog.delay)
    }

    func admit(to lane: WorkLanes.Lane, for flow: Int) throws(WorkerPool.Full) {
        if let rejection = rejection(in: lane, for: flow) { throw rejection }
    }

    static func queueTimeout(behind backlog: Backlog, maximumDelay: Duration) -> Duration {
        backlog.age > maximumDelay ? maximumDelay / 2 : maximumDelay
    }
}
