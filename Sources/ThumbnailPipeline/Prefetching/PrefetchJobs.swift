/// The jobs and how far they have come: a plain value; the prefetcher keeps it under its lock and does what it says.
struct PrefetchJobs {
    /// What has become of a thumbnail; the raw value is how it is written down.
    enum Outcome: UInt8 {
        case left = 0x2e
        case done = 0x64
        case failed = 0x66
    }

    /// A thumbnail to make.
    struct Assignment {
        let job: String
        let index: Int
        let item: PrefetchItem
    }

    private struct Job {
        let items: [PrefetchItem]
        var outcomes: [Outcome]
        /// The first that nobody has been assigned.
        var next = 0
        var done = 0
        var failed = 0
        var endedAt: Duration?
        var notedAt: Duration

        var isEnded: Bool { done + failed == items.count }
    }

    private let configuration: PrefetchConfiguration
    private var jobs: [String: Job] = [:]
    /// In the order in which they were begun.
    private var order: [String] = []
    private var activeCount = 0

    init(_ configuration: PrefetchConfiguration) {
        self.configuration = configuration
    }

    /// Forgets ended jobs whose time is over, and one more where a new job needs room; their names, or nil without room.
    mutating func makeRoom(at now: Duration) -> [String]? {
        var forgotten = order.filter { id in jobs[id]?.endedAt.map { now - $0 >= configuration.memory } ?? false }
        if order.count - forgotten.count >= configuration.maximumJobs {
            guard let oldest = order.first(where: { jobs[$0]?.endedAt != nil && !forgotten.contains($0) }) else {
                remove(forgotten)
                return nil
            }
            forgotten.append(oldest)
        }
        remove(forgotten)
        return forgotten
    }

    /// Takes a job in; `outcomes` are those of an earlier run.
    mutating func add(_ id: String, _ items: [PrefetchItem], outcomes: [Outcome] = [], at now: Duration) {
        let known = outcomes.count == items.count ? outcomes : Array(repeating: .left, count: items.count)
        var job = Job(items: items, outcomes: known, notedAt: now)
        job.done = known.count { $0 == .done }
        job.failed = known.count { $0 == .failed }
        if job.isEnded { job.endedAt = now }
        jobs[id] = job
        order.append(id)
    }

    /// Whether another runner may start, and takes its place; it ends with ``nextAssignment()`` being nil.
    mutating func takePlace() -> Bool {
        guard activeCount < configuration.maximumActive, order.contains(where: { hasNext($0) }) else { return false }
        activeCount += 1
        return true
    }

    /// What a runner does next, the oldest job first; nil when there is nothing, and then its place is given back.
    mutating func nextAssignment() -> Assignment? {
        for id in order {
            guard var job = jobs[id] else { continue }
            while job.next < job.items.count, job.outcomes[job.next] != .left { job.next += 1 }
            defer { jobs[id] = job }
            guard job.next < job.items.count else { continue }
            job.next += 1
            return Assignment(job: id, index: job.next - 1, item: job.items[job.next - 1])
        }
        activeCount -= 1
        return nil
    }

    /// Gives a runner's place back before its work is over.
    mutating func leavePlace() { activeCount -= 1 }

    /// Notes what became of a thumbnail; the job's outcomes when they should be written down now.
    mutating func finish(_ assignment: Assignment, _ outcome: Outcome, at now: Duration) -> [UInt8]? {
        guard var job = jobs[assignment.job], job.outcomes[assignment.index] == .left else { return nil }
        job.outcomes[assignment.index] = outcome
        if outcome == .done { job.done += 1 } else { job.failed += 1 }
        if job.isEnded { job.endedAt = now }
        let isDue = job.isEnded || now - job.notedAt >= configuration.noteInterval
        if isDue { job.notedAt = now }
        jobs[assignment.job] = job
        return isDue ? job.outcomes.map(\.rawValue) : nil
    }

    /// How far a job has come; one whose time is over is not there any more.
    func status(of id: String, at now: Duration) -> PrefetchStatus? {
        guard let job = jobs[id], job.endedAt.map({ now - $0 < configuration.memory }) ?? true else { return nil }
        return PrefetchStatus(total: job.items.count, done: job.done, failed: job.failed)
    }

    /// The outcomes of all jobs under way.
    var unfinished: [(id: String, outcomes: [UInt8])] {
        order.compactMap { id in
            guard let job = jobs[id], !job.isEnded else { return nil }
            return (id, job.outcomes.map(\.rawValue))
        }
    }

    private func hasNext(_ id: String) -> Bool {
        guard let job = jobs[id] else { return false }
        return job.outcomes[min(job.next, job.items.count)...].contains(.left)
    }

    private mutating func remove(_ ids: [String]) {
        for id in ids { jobs[id] = nil }
        order.removeAll { jobs[$0] == nil }
    }
}
