import Coordination
import Text

/// The jobs and their progress; the prefetcher locks them and performs the returned actions.
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
        let total: Int
        let callback: String?
        var isHeld: Bool
        /// The remaining items; empty, like the outcomes, once the job has ended.
        var items: [PrefetchItem]
        var isCanceled = false
        var outcomes: [Outcome]
        var next = 0
        var done = 0
        var failed = 0
        var failures: [PrefetchFailure] = []
        var results: [PrefetchResult] = []
        var endedAt: Duration?
        var notedAt: Duration
        /// Memory reserved for the items and results, then for the report.
        var memory: MemoryReservation?
        var reportBytes = 0

        var isEnded: Bool { isCanceled || done + failed == total }

        var hasNext: Bool { !isHeld && !isCanceled && outcomes[min(next, items.count)...].contains(.left) }

        var status: PrefetchStatus {
            PrefetchStatus(
                total: total, done: done, failed: failed, failures: failures, results: results, isCanceled: isCanceled)
        }

        mutating func end(at now: Duration) {
            endedAt = now
            items = []
            outcomes = []
            reportBytes = results.reduce(0) { $0 + $1.byteCount } + failures.reduce(0) { $0 + $1.byteCount }
            if let memory, memory.bytes > reportBytes { _ = memory.split(memory.bytes - reportBytes) }
        }

        /// Records an outcome; returns all outcomes when they are due to be saved.
        mutating func finish(_ index: Int, _ end: End, at now: Duration, noteInterval: Duration) -> [UInt8]? {
            let outcome: Outcome
            switch end {
            case .failed(let failure):
                outcome = .failed
                failed += 1
                if failures.count < maximumFailures { failures.append(failure) }
            case .rendered(let result):
                outcome = .done
                done += 1
                if let result { results.append(result) }
            }
            guard endedAt == nil else { return nil }
            outcomes[index] = outcome
            guard isEnded || now - notedAt >= noteInterval else { return nil }
            notedAt = now
            let note = outcomes.map(\.rawValue)
            if isEnded { self.end(at: now) }
            return note
        }
    }

    static let maximumFailures = 100

    private let configuration: PrefetchConfiguration
    private var jobs: [ExactText: Job] = [:]
    private var order: [ExactText] = []
    private var activeCount = 0

    init(_ configuration: PrefetchConfiguration) { self.configuration = configuration }

    /// Adds a job; removes jobs that ended long ago and, if necessary, the oldest ended jobs.
    ///
    /// - Parameters:
    ///   - outcomes: Outcomes saved by an earlier process.
    ///   - isHeld: Whether the job waits for ``release(_:)``.
    ///   - memory: A reservation of ``byteCount(of:)``.
    /// - Returns: The IDs of the removed jobs; nil if there are too many jobs.
    mutating func admit(
        _ id: ExactText, _ items: [PrefetchItem], callback: String? = nil, outcomes: [Outcome] = [],
        isHeld: Bool = false, memory: MemoryReservation? = nil, at now: Duration
    ) -> [ExactText]? {
        var forgotten = order.filter { id in jobs[id]?.endedAt.map { now - $0 >= configuration.memory } ?? false }
        var ended = order.filter { jobs[$0]?.endedAt != nil && !forgotten.contains($0) }[...]
        var reportBytes = ended.reduce(0) { $0 + (jobs[$1]?.reportBytes ?? 0) }
        while order.count - forgotten.count >= configuration.maximumJobs
            || reportBytes > configuration.maximumReportBytes
        {
            guard let oldest = ended.popFirst() else { return nil }
            forgotten.append(oldest)
            reportBytes -= jobs[oldest]?.reportBytes ?? 0
        }
        for id in forgotten { jobs[id] = nil }
        order.removeAll { jobs[$0] == nil }

        let initialOutcomes = outcomes.count == items.count ? outcomes : Array(repeating: .left, count: items.count)
        var job = Job(
            total: items.count, callback: callback, isHeld: isHeld, items: items, outcomes: initialOutcomes,
            notedAt: now, memory: memory)
        job.done = initialOutcomes.count { $0 == .done }
        job.failed = initialOutcomes.count { $0 == .failed }
        if job.isEnded { job.end(at: now) }
        jobs[id] = job
        order.append(id)
        return forgotten
    }

    mutating func release(_ id: ExactText) { jobs[id]?.isHeld = false }

    /// Returns whether to start another runner, which ends when ``nextAssignment()`` returns nil.
    mutating func startRunner() -> Bool {
        guard activeCount < configuration.maximumActive, order.contains(where: { jobs[$0]?.hasNext ?? false }) else {
            return false
        }
        activeCount += 1
        return true
    }

    /// Returns the next thumbnail of the oldest unfinished job; nil ends the runner.
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

    /// Records an outcome; returns the job's outcomes when they are due to be saved, and its report if it has ended.
    mutating func finish(
        _ assignment: Assignment, _ end: End, at now: Duration
    ) -> (note: [UInt8]?, report: PrefetchReport?) {
        // A canceled job was reported when it was canceled. Changed in place: copying the results is slow.
        let isCanceled = jobs[assignment.job]?.isCanceled ?? true
        let note = jobs[assignment.job]?.finish(
            assignment.index, end, at: now, noteInterval: configuration.noteInterval)
        return (note ?? nil, isCanceled ? nil : report(of: assignment.job))
    }

    func report(of id: ExactText) -> PrefetchReport? {
        guard let job = jobs[id], job.isEnded else { return nil }
        return PrefetchReport(id: id.string, status: job.status, callback: job.callback)
    }

    func status(of id: ExactText, at now: Duration) -> PrefetchStatus? {
        guard let job = jobs[id], job.endedAt.map({ now - $0 < configuration.memory }) ?? true else { return nil }
        return job.status
    }

    /// Returns the jobs, oldest first.
    func statuses(at now: Duration) -> [(id: String, status: PrefetchStatus)] {
        order.compactMap { id in status(of: id, at: now).map { (id.string, $0) } }
    }

    /// Cancels a job: thumbnails in progress are completed, no others begin.
    ///
    /// - Returns: The job's report; nil if there is no such job, or if it has ended.
    mutating func cancel(_ id: ExactText, at now: Duration) -> PrefetchReport? {
        guard var job = jobs[id], !job.isEnded else { return nil }
        job.isCanceled = true
        job.end(at: now)
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

extension PrefetchJobs {
    /// The memory of the items, and of the results for items with destinations.
    static func byteCount(of items: [PrefetchItem]) -> Int {
        items.reduce(0) { sum, item in
            let itemBytes = heapBytes(item.target, item.destination ?? "", item.cacheControl ?? "")
            let result = item.destination == nil ? 0 : MemoryLayout<PrefetchResult>.stride + 2 * itemBytes + 128
            return sum + MemoryLayout<PrefetchItem>.stride + itemBytes + result
        }
    }

    fileprivate static func heapBytes(_ texts: String...) -> Int {
        // A Swift string of more than 15 bytes is allocated with a header of 32 bytes.
        texts.reduce(0) { $0 + ($1.utf8.count > 15 ? 32 + $1.utf8.count : 0) }
    }
}

extension PrefetchResult {
    fileprivate var byteCount: Int {
        MemoryLayout<Self>.stride
            + PrefetchJobs.heapBytes(target, source, stored.location, stored.mediaType, stored.eTag)
    }
}

extension PrefetchFailure {
    fileprivate var byteCount: Int { MemoryLayout<Self>.stride + PrefetchJobs.heapBytes(target, source, code, reason) }
}
