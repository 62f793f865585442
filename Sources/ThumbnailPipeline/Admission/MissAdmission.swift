import Coordination

/// Whether misses may go on: the one place that says no, before any work was done for them.
///
/// What runs out is time on the worker threads, so misses are judged by how long they would wait for one. A burst is taken in
/// whole as long as all of it is served within ``maximumDelay``. Where jobs have been waiting all the time for that long, more come
/// than can be done: then half of it is the bound, so that those who are let in are served soon, the workers never idle, and the
/// queue is short when the flood ends. Hits, and what needs no worker of its own, never come here.
struct MissAdmission: Sendable {
    private let workers: WorkerPool
    private let maximumDelay: Duration

    /// Judges by the queue of `workers`, where nobody is to wait longer than `maximumDelay`.
    init(workers: WorkerPool, maximumDelay: Duration) {
        self.workers = workers
        self.maximumDelay = maximumDelay
    }

    /// How long work that comes now may wait for a worker.
    var patience: Duration { Self.patience(behind: workers.backlog, maximumDelay: maximumDelay) }

    /// Why a miss that comes now is refused; nil when it may go on.
    ///
    /// Quick, and called on the event threads.
    var refusal: WorkerPool.Full? {
        let backlog = workers.backlog
        guard backlog.count >= workers.threadCount,
            backlog.delay > Self.patience(behind: backlog, maximumDelay: maximumDelay)
        else { return nil }
        return WorkerPool.Full(delay: backlog.delay)
    }

    /// Lets a miss go on, or not.
    ///
    /// - Throws: `WorkerPool.Full`.
    func admit() throws(WorkerPool.Full) {
        if let refusal { throw refusal }
    }

    static func patience(behind backlog: Backlog, maximumDelay: Duration) -> Duration {
        backlog.age > maximumDelay ? maximumDelay / 2 : maximumDelay
    }
}
