import Coordination

/// Decides whether misses may go on: the one place that refuses them, before any work is done for them.
///
/// Time on the worker threads is scarce, so a miss is judged by how long it would wait for one, in the lane of its
/// price. A burst is admitted as a whole if all of it is served within ``maximumDelay``. If jobs have been waiting
/// without a break for that long, more come than can be done. Then half of it is the bound: admitted misses are served
/// soon, the threads never idle, and the queue is short when the flood ends. Hits, and misses that need no thread of
/// their own, are not judged here.
struct MissAdmission: Sendable {
    let lanes: WorkLanes
    /// No miss is to wait longer.
    let maximumDelay: Duration

    /// How long work that comes now may wait in a lane.
    func patience(in lane: WorkLanes.Lane) -> Duration {
        Self.patience(behind: lanes.queue(of: lane).backlog, maximumDelay: maximumDelay)
    }

    /// Why a miss that comes now is refused; nil when it may go on.
    ///
    /// Quick, and called on the event threads.
    func refusal(in lane: WorkLanes.Lane) -> WorkerPool.Full? {
        let (backlog, places) = lanes.queue(of: lane)
        guard backlog.count >= places, backlog.delay > Self.patience(behind: backlog, maximumDelay: maximumDelay)
        else { return nil }
        return WorkerPool.Full(delay: backlog.delay)
    }

    /// Lets a miss go on, or refuses it.
    ///
    /// - Throws: `WorkerPool.Full`.
    func admit(to lane: WorkLanes.Lane) throws(WorkerPool.Full) {
        if let refusal = refusal(in: lane) { throw refusal }
    }

    static func patience(behind backlog: Backlog, maximumDelay: Duration) -> Duration {
        backlog.age > maximumDelay ? maximumDelay / 2 : maximumDelay
    }
}
