package import Coordination
package import DiskCaching
import HTTPTypes
package import Telemetry
import Text
import ThumbnailTypes

/// Renders thumbnails before clients request them, while no client's work is queued.
///
/// With a disk, jobs are saved before they begin and continue after a restart.
package final class Prefetcher: Prefetching {
    private struct State {
        var jobs: PrefetchJobs
        var runners: [Int: Task<Void, Never>] = [:]
        var lastRunner = 0
        var resumption: Task<Void, Never>?
        var isStopped = false
    }

    /// Sends a report; `end` is called when the callback was delivered or abandoned.
    package typealias Reporting = @Sendable (_ report: PrefetchReport, _ end: @escaping OutgoingCaller.End) -> Void

    /// Parses an item, and returns its work with a pipeline of the same version of the settings; nil if the item is
    /// invalid.
    package typealias Reading =
        @Sendable (PrefetchItem) -> (work: PrefetchWork, thumbnails: any ThumbnailLookup & ThumbnailRendering)?

    private let configuration: PrefetchConfiguration
    private let work: Reading
    private let isBusy: @Sendable () -> Bool
    private let notes: SavedPrefetchJobs?
    private let budget: MemoryBudget
    private let reportEnd: Reporting
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let state: Locked<State>

    /// - Parameters:
    ///   - isBusy: Returns whether clients' work is queued.
    ///   - store: Nil if there is no disk.
    package init(
        configuration: PrefetchConfiguration, reading work: @escaping Reading, isBusy: @escaping @Sendable () -> Bool,
        store: DiskStore?, budget: MemoryBudget = MemoryBudget(),
        reporting reportEnd: @escaping Reporting = { $1(.dropped) }, logger: Logger, timekeeper: any Timekeeper
    ) {
        self.configuration = configuration
        self.work = work
        self.isBusy = isBusy
        notes = store.map { SavedPrefetchJobs($0) }
        self.budget = budget
        self.reportEnd = reportEnd
        self.logger = logger
        self.timekeeper = timekeeper
        state = Locked(State(jobs: PrefetchJobs(configuration)))
    }

    /// Returns after saving the job; `survivesRestart` is false if that failed.
    package func begin(_ items: [PrefetchItem], callback: String? = nil) async throws -> PrefetchJob {
        await waitForResumption()
        let id = Self.makeID()
        let memory = try budget.reserveNow(PrefetchJobs.byteCount(of: items), for: .arrival)
        // Add the job before saving it: other jobs may arrive in the meantime.
        let forgotten = state.withLock {
            $0.jobs.admit(ExactText(id), items, callback: callback, isHeld: true, memory: memory, at: timekeeper.now)
        }
        guard let forgotten else { throw PipelineError.tooManyPrefetchJobs }
        for id in forgotten { notes?.forget(id.string) }
        let isSaved = await notes?.save(id, items, callback: callback) ?? false
        if notes != nil, !isSaved { logger.warning("prefetch job not stored", ["job": .string(id)]) }
        state.withLock { $0.jobs.release(ExactText(id)) }
        start()
        return PrefetchJob(id: id, survivesRestart: isSaved)
    }

    package func status(of id: String) async -> PrefetchStatus? {
        await waitForResumption()
        return state.withLock { $0.jobs.status(of: ExactText(id), at: timekeeper.now) }
    }

    package func jobs() async -> [(id: String, status: PrefetchStatus)] {
        await waitForResumption()
        return state.withLock { $0.jobs.statuses(at: timekeeper.now) }
    }

    package func cancel(_ id: String) async -> Bool {
        guard await status(of: id) != nil else { return false }
        let report = state.withLock { $0.jobs.cancel(ExactText(id), at: timekeeper.now) }
        guard let report else { return true }
        notes?.forget(id)
        self.report(report)
        return true
    }

    /// Loads and continues the jobs saved by the previous process; other methods wait until they are loaded.
    package func resume() {
        guard let notes else { return }
        state.withLock { $0.resumption = Task.detached { self.resumeSaved(await notes.jobs(), of: notes) } }
    }

    package func shutDown() {
        let (runners, unfinished) = state.withLock { state in
            state.isStopped = true
            return (Array(state.runners.values), state.jobs.unfinished)
        }
        for runner in runners { runner.cancel() }
        for job in unfinished { notes?.save(job.outcomes, of: job.id.string) }
    }

    private func resumeSaved(_ jobs: [SavedPrefetchJobs.Job], of notes: SavedPrefetchJobs) {
        for job in jobs {
            let memory = try? budget.reserveNow(PrefetchJobs.byteCount(of: job.items))
            let forgotten = state.withLock {
                $0.jobs.admit(
                    ExactText(job.id), job.items, callback: job.callback, outcomes: job.outcomes, memory: memory,
                    at: timekeeper.now)
            }
            for id in forgotten?.map(\.string) ?? [job.id] { notes.forget(id) }
            // The previous process may have ended before it called back.
            let owed = state.withLock { job.callback == nil ? nil : $0.jobs.report(of: ExactText(job.id)) }
            if let owed { report(owed) }
        }
        state.withLock { $0.resumption = nil }
        start()
    }

    private func waitForResumption() async { await state.withLock { $0.resumption }?.value }

    private func start() {
        state.withLock { state in
            while !state.isStopped, state.jobs.startRunner() {
                state.lastRunner += 1
                let runner = state.lastRunner
                // Safe under the lock: creating a task only enqueues it.
                state.runners[runner] = Task.detached(priority: .background) { await self.run(runner) }
            }
        }
    }

    private func run(_ runner: Int) async {
        while !Task.isCancelled, let assignment = state.withLock({ $0.jobs.nextAssignment() }) {
            let outcome: PrefetchJobs.End
            do {
                outcome = try await self.end(of: assignment.item)
            } catch {
                // The next process repeats interrupted work.
                state.withLock { $0.jobs.endRunner() }
                break
            }
            let (note, end) = state.withLock { $0.jobs.finish(assignment, outcome, at: timekeeper.now) }
            if let note { notes?.save(note, of: assignment.job.string) }
            if let end { report(end) }
        }
        state.withLock { $0.runners[runner] = nil }
        // A job may have been added between the last check and the end.
        start()
    }

    /// If a shutdown interrupts the callback, the next process sends it.
    private func report(_ end: PrefetchReport) {
        reportEnd(end) { [notes] outcome in
            if end.callback != nil, outcome != .dropped { notes?.forgetCallback(of: end.id) }
        }
    }

    /// Renders the thumbnail; throws `CancellationError` if the service stops.
    private func end(of item: PrefetchItem) async throws -> PrefetchJobs.End {
        // An earlier version may have saved the item, or the settings may have changed.
        guard let (work, thumbnails) = work(item) else {
            let reason = "The saved target or destination is not valid in this version or with these settings."
            return .failed(PrefetchFailure(target: item.target, source: "", code: "bad_parameter", reason: reason))
        }
        let source = work.request.source.string
        var attempt = 1
        while true {
            do {
                while isBusy() { try await timekeeper.sleep(until: timekeeper.now + configuration.pause) }
                let stored = try await withDeadline(timekeeper.now + configuration.timeLimit, by: timekeeper) {
                    try await self.store(work, thumbnails)
                }
                return .rendered(stored.map { PrefetchResult(target: item.target, source: source, stored: $0) })
            } catch let cancellation as CancellationError {
                throw cancellation
            } catch {
                logger.debug(
                    "prefetch failed", ["source": .string(SourceLabel.text(source)), "detail": .string("\(error)")])
                guard attempt < configuration.attempts, let wait = (error as? any ServiceError)?.retryAfter else {
                    let error = error as? any ServiceError
                    return .failed(
                        PrefetchFailure(
                            target: item.target, source: source, code: error?.code ?? "internal",
                            reason: error?.operatorMessage ?? "Internal error."))
                }
                attempt += 1
                // Clients receive this delay in `Retry-After`.
                try await timekeeper.sleep(until: timekeeper.now + .seconds(wait))
            }
        }
    }

    private func store(
        _ work: PrefetchWork, _ thumbnails: any ThumbnailLookup & ThumbnailRendering
    ) async throws -> StoredResult? {
        let made = try await thumbnails.thumbnail(for: Job(thumbnails.resolved(work.request), receipt: Self.makeID()))
        guard let destination = work.destination else { return nil }
        return try await work.resultWriter.put(made, at: destination)
    }

    private static func makeID() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
    }
}
