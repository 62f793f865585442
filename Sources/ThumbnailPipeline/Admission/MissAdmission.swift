import Coordination

/// Whether misses may go on: the one place that says no, before any work was done for them.
///
/// What runs out is time on the worker threads, so misses are judged by how long they would wait for one, each in the lane that its
/// price puts it in. A burst is taken in whole as long as all of it is served within ``maximumDelay``. Where jobs have been waiting all
/// the time for that long, more come than can be done: then half of it is the bound, so that those who are let in are served soon, the
/// workers never idle, and the queue is short when the flood ends. Hits, and what needs no worker of its own, never come here.
struct MissAdmission: Sendable {
    private let lanes: WorkLanes
    private let maximumDelay: Duration

    /// Judges by what waits in `lanes`, where nobody is to wait longer than `maximumDelay`.
    init(lanes: WorkLanes, maximumDelay: Duration) {
        self.lanes = lanes
        self.maximumDelay = maximumDelay
    }

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

    /// Lets a miss go on, or not.
    ///
    /// - Throws: `WorkerPool.Full`.
    func admit(to lane: WorkLanes.Lane) throws(WorkerPool.Full) {
        if let refusal = refusal(in: lane) { throw refusal }
    }

    static func patience(behind backlog: Backlog, maximumDelay: Duration) -> Duration {
        backlog.age > maximumDelay ? maximumDelay / 2 : maximumDelay
    }
}
