import Text

/// The jobs and their progress; the prefetcher guards them by its lock, and performs the returned actions.
struct PrefetchJobs {
    /// The outcome of a thumbnail; raw values are stored on disk.
    enum Outcome: UInt8 {
        case left = 0x2e
        case done = 0x64
        case failed = 0x66
    }

    struct Assignment {
        let job: ExactText
        let index: Int
        let item: PrefetchItem
    }

    enum End {
        case rendered(PrefetchResult?)
        case failed(PrefetchFailure)
    }

    private struct Job {
        let items: [PrefetchItem]
        let callback: String?
        var isHeld: Bool
        var isCanceled = false
        var outcomes: [Outcome]
        var next = 0
        var done = 0
        var failed = 0
        var failures: [PrefetchFailure] = []
        var results: [PrefetchResult] = []
        var endedAt: Duration?
        var notedAt: Duration

        var isEnded: Bool { isCanceled || done + failed == items.count }

        var hasNext: Bool { !isHeld && !isCanceled && outcomes[min(next, items.count)...].contains(.left) }

        var status: PrefetchStatus {
            PrefetchStatus(
                total: items.count, done: done, failed: failed, failures: failures, results: results,
                isCanceled: isCanceled)
        }
    }

    static let maximumFailures = 100

    private let configuration: PrefetchConfiguration
    private var jobs: [ExactText: Job] = [:]
    private var order: [ExactText] = []
    private var activeCount = 0

    init(_ configuration: PrefetchConfiguration) { self.configuration = configuration }

    /// Also forgets jobs that ended long ago and, if there is still no room, the oldest ended job.
    ///
    /// - Parameters:
    ///   - outcomes: From an earlier process.
    ///   - isHeld: Whether it waits for ``release(_:)``.
    /// - Returns: The IDs of the forgotten jobs; nil if there is no room.
    mutating func admit(
        _ id: ExactText, _ items: [PrefetchItem], callback: String? = nil, outcomes: [Outcome] = [],
        isHeld: Bool = false,
        at now: Duration
    ) -> [ExactText]? {
        var forgotten = order.filter { id in jobs[id]?.endedAt.map { now - $0 >= configuration.memory } ?? false }
        if order.count - forgotten.count >= configuration.maximumJobs {
            guard let oldest = order.first(where: { jobs[$0]?.endedAt != nil && !forgotten.contains($0) }) else {
                return nil
            }
            forgotten.append(oldest)
        }
        for id in forgotten { jobs[id] = nil }
        order.removeAll { jobs[$0] == nil }

        let known = outcomes.count == items.count ? outcomes : Array(repeating: .left, count: items.count)
        var job = Job(items: items, callback: callback, isHeld: isHeld, outcomes: known, notedAt: now)
        job.done = known.count { $0 == .done }
        job.failed = known.count { $0 == .failed }
        if job.isEnded { job.endedAt = now }
        jobs[id] = job
        order.append(id)
        return forgotten
    }

    mutating func release(_ id: ExactText) { jobs[id]?.isHeld = false }

    /// The runner ends when ``nextAssignment()`` returns nil.
    mutating func startRunner() -> Bool {
        guard activeCount < configuration.maximumActive, order.contains(where: { jobs[$0]?.hasNext ?? false }) else {
            return false
        }
        activeCount += 1
        return true
    }

    /// From the oldest job that has one; nil ends the runner.
    mutating func nextAssignment() -> Assignment? {
        for id in order {
            guard var job = jobs[id], job.hasNext else { continue }
            while job.next < job.items.count, job.outcomes[job.next] != .left { job.next += 1 }
            job.next += 1
            defer { jobs[id] = job }
            return Assignment(job: id, index: job.next - 1, item: job.items[job.next - 1])
        }
        activeCount -= 1
        return nil
    }

    mutating func endRunner() { activeCount -= 1 }

    /// Returns the job's outcomes if they should be saved now, and its report if it has ended.
    mutating func finish(
        _ assignment: Assignment, _ end: End, at now: Duration
    ) -> (note: [UInt8]?, report: PrefetchReport?) {
        guard var job = jobs[assignment.job], job.outcomes[assignment.index] == .left else { return (nil, nil) }
        switch end {
        case .failed(let failure):
            job.outcomes[assignment.index] = .failed
            job.failed += 1
            if job.failures.count < Self.maximumFailures { job.failures.append(failure) }
        case .rendered(let result):
            job.outcomes[assignment.index] = .done
            job.done += 1
            if let result { job.results.append(result) }
        }
        if job.isEnded { job.endedAt = now }
        let isDue = job.isEnded || now - job.notedAt >= configuration.noteInterval
        if isDue { job.notedAt = now }
        jobs[assignment.job] = job
        // A canceled job was reported then.
        let isReported = job.isEnded && !job.isCanceled
        return (isDue ? job.outcomes.map(\.rawValue) : nil, isReported ? report(of: assignment.job) : nil)
    }

    func report(of id: ExactText) -> PrefetchReport? {
        guard let job = jobs[id], job.isEnded else { return nil }
        return PrefetchReport(id: id.string, status: job.status, callback: job.callback)
    }

    func status(of id: ExactText, at now: Duration) -> PrefetchStatus? {
        guard let job = jobs[id], job.endedAt.map({ now - $0 < configuration.memory }) ?? true else { return nil }
        return job.status
    }

    /// Returns the jobs in the order in which they began.
    func statuses(at now: Duration) -> [(id: String, status: PrefetchStatus)] {
        order.compactMap { id in status(of: id, at: now).map { (id.string, $0) } }
    }

    /// Cancels a job: a thumbnail in progress is completed, no other begins.
    ///
    /// - Returns: The job's report; nil if there is no such job, or if it has ended.
    mutating func cancel(_ id: ExactText, at now: Duration) -> PrefetchReport? {
        guard var job = jobs[id], !job.isEnded else { return nil }
        (job.isCanceled, job.endedAt) = (true, now)
        jobs[id] = job
        return report(of: id)
    }

    var unfinished: [(id: ExactText, outcomes: [UInt8])] {
        order.compactMap { id in
            guard let job = jobs[id], !job.isEnded else { return nil }
            return (id, job.outcomes.map(\.rawValue))
        }
    }
}
