import Coordination
import Text
import ThumbnailPipeline

/// The jobs and their progress; the prefetcher locks them and performs the returned actions.
struct PrefetchJobs {
    /// The outcome of a thumbnail; raw values are stored on disk.
    enum Outcome: UInt8 {
        case pending = 0x2e
        case done = 0x64
        case failed = 0x66
    }

    struct Assignment {
        let job: ExactText
        let index: Int
        let item: PrefetchItem
    }

    enum ItemResult {
        /// Rendered; with the stored result if the item has a destination.
        case rendered(PrefetchResult?)
        case failed(PrefetchFailure)
    }

    /// The changes after a thumbnail that must be saved and reported.
    struct Completion {
        /// The job's outcomes; nil if they are not due to be saved.
        let outcomes: [UInt8]?
        /// The job's report; nil if it has not ended.
        let report: PrefetchReport?
    }

    private struct JobState {
        let total: Int
        let callback: String?
        var isPaused: Bool
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
        var savedAt: Duration
        /// Memory reserved for the items and results, then for the report.
        var memory: MemoryReservation?
        var reportBytes = 0

        var isEnded: Bool { isCanceled || done + failed == total }

        var hasNext: Bool { !isPaused && !isCanceled && outcomes[min(next, items.count)...].contains(.pending) }

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
        mutating func finish(
            _ index: Int, with result: ItemResult, at now: Duration, saveInterval: Duration
        ) -> [UInt8]? {
            let outcome: Outcome
            switch result {
            case .failed(let failure):
                outcome = .failed
                failed += 1
                if failures.count < maximumFailures { failures.append(failure) }
            case .rendered(let stored):
                outcome = .done
                done += 1
                if let stored { results.append(stored) }
            }
            guard endedAt == nil else { return nil }
            outcomes[index] = outcome
            guard isEnded || now - savedAt >= saveInterval else { return nil }
            savedAt = now
            let saved = outcomes.map(\.rawValue)
            if isEnded { self.end(at: now) }
            return saved
        }
    }

    static let maximumFailures = 100

    private let configuration: PrefetchConfiguration
    private var jobs: [ExactText: JobState] = [:]
    private var order: [ExactText] = []
    private var activeCount = 0

    init(_ configuration: PrefetchConfiguration) { self.configuration = configuration }

    /// Adds a job; removes jobs that ended long ago and, if necessary, the oldest ended jobs.
    ///
    /// - Parameters:
    ///   - outcomes: Outcomes saved by an earlier process.
    ///   - isPaused: Whether the job waits for ``unpause(_:)``.
    ///   - memory: A reservation of ``byteCount(of:)``.
    /// - Returns: The IDs of the removed jobs; nil if there are too many jobs.
    mutating func admit(
        _ id: ExactText, items: [PrefetchItem], callback: String? = nil, outcomes: [Outcome] = [],
        isPaused: Bool = false, memory: MemoryReservation? = nil, at now: Duration
    ) -> [ExactText]? {
        var forgotten = order.filter { id in jobs[id]?.endedAt.map { now - $0 >= configuration.retention } ?? false }
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

        let initialOutcomes = outcomes.count == items.count ? outcomes : Array(repeating: .pending, count: items.count)
        var job = JobState(
            total: items.count, callback: callback, isPaused: isPaused, items: items, outcomes: initialOutcomes,
            savedAt: now, memory: memory)
        job.done = initialOutcomes.count { $0 == .done }
        job.failed = initialOutcomes.count { $0 == .failed }
        if job.isEnded { job.end(at: now) }
        jobs[id] = job
        order.append(id)
        return forgotten
    }

    mutating func unpause(_ id: ExactText) { jobs[id]?.isPaused = false }

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
            while job.next < job.items.count, job.outcomes[job.next] != .pending { job.next += 1 }
            job.next += 1
            defer { jobs[id] = job }
            return Assignment(job: id, index: job.next - 1, item: job.items[job.next - 1])
        }
        activeCount -= 1
        return nil
    }

    mutating func endRunner() { activeCount -= 1 }

    mutating func finish(_ assignment: Assignment, with result: ItemResult, at now: Duration) -> Completion {
        // A canceled job was reported when it was canceled. Changed in place: copying the results is slow.
        let isCanceled = jobs[assignment.job]?.isCanceled ?? true
        let outcomes = jobs[assignment.job]?.finish(
            assignment.index, with: result, at: now, saveInterval: configuration.saveInterval)
        return Completion(outcomes: outcomes ?? nil, report: isCanceled ? nil : report(of: assignment.job))
    }

    func report(of id: ExactText) -> PrefetchReport? {
        guard let job = jobs[id], job.isEnded else { return nil }
        return PrefetchReport(id: id.string, status: job.status, callback: job.callback)
    }

    func status(of id: ExactText, at now: Duration) -> PrefetchStatus? {
        guard let job = jobs[id], job.endedAt.map({ now - $0 < configuration.retention }) ?? true else { return nil }
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
