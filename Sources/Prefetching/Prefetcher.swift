package import Coordination
package import DiskCaching
import HTTPTypes
package import Telemetry
import Text
package import ThumbnailPipeline
import ThumbnailTypes
package import Webhooks

/// Renders thumbnails before clients request them, while no client's work is queued.
///
/// With a disk, jobs are saved before they begin and continue after a restart.
package final class Prefetcher: PrefetchScheduling {
    private struct State {
        var jobs: PrefetchJobs
        var runners: [Int: Task<Void, Never>] = [:]
        var lastRunner = 0
        var resumption: Task<Void, Never>?
        var isShutDown = false
    }

    /// Sends a report; `completion` is called when the callback was delivered or abandoned.
    package typealias Reporting =
        @Sendable (_ report: PrefetchReport, _ completion: @escaping OutgoingCaller.Completion) -> Void

    /// Parses an item, and returns its work with a pipeline of the same version of the settings; nil if the item is
    /// invalid.
    package typealias Resolving =
        @Sendable (PrefetchItem) -> (work: PrefetchWork, pipeline: any ThumbnailLookup & ThumbnailRendering)?

    private let configuration: PrefetchConfiguration
    private let resolve: Resolving
    private let isBusy: @Sendable () -> Bool
    private let savedJobs: SavedPrefetchJobs?
    private let budget: MemoryBudget
    private let sendReport: Reporting
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let state: Locked<State>

    /// - Parameters:
    ///   - isBusy: Returns whether clients' work is queued.
    ///   - store: Nil if there is no disk.
    package init(
        configuration: PrefetchConfiguration, resolving resolve: @escaping Resolving,
        isBusy: @escaping @Sendable () -> Bool, store: DiskStore?, budget: MemoryBudget = MemoryBudget(),
        reporting sendReport: @escaping Reporting = { $1(.dropped) }, logger: Logger, timekeeper: any Timekeeper
    ) {
        self.configuration = configuration
        self.resolve = resolve
        self.isBusy = isBusy
        savedJobs = store.map { SavedPrefetchJobs($0) }
        self.budget = budget
        self.sendReport = sendReport
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
            $0.jobs.admit(
                ExactText(id), items: items, callback: callback, isPaused: true, memory: memory, at: timekeeper.now)
        }
        guard let forgotten else { throw TooManyPrefetchJobs() }
        for id in forgotten { savedJobs?.forget(id.string) }
        let isSaved = await savedJobs?.save(id, items: items, callback: callback) ?? false
        if savedJobs != nil, !isSaved { logger.warning("prefetch job not stored", ["job": .string(id)]) }
        state.withLock { $0.jobs.unpause(ExactText(id)) }
        startRunners()
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
        savedJobs?.forget(id)
        send(report)
        return true
    }

    /// Loads and continues the jobs saved by the previous process; other methods wait until they are loaded.
    package func resume() {
        guard let savedJobs else { return }
        state.withLock {
            $0.resumption = Task.detached { self.resume(await savedJobs.jobs(), from: savedJobs) }
        }
    }

    package func shutDown() {
        let (runners, unfinished) = state.withLock { state in
            state.isShutDown = true
            return (Array(state.runners.values), state.jobs.unfinished)
        }
        for runner in runners { runner.cancel() }
        for job in unfinished { savedJobs?.save(job.outcomes, of: job.id.string) }
    }

    private func resume(_ jobs: [SavedPrefetchJobs.SavedJob], from savedJobs: SavedPrefetchJobs) {
        for job in jobs {
            let memory = try? budget.reserveNow(PrefetchJobs.byteCount(of: job.items))
            let forgotten = state.withLock {
                $0.jobs.admit(
                    ExactText(job.id), items: job.items, callback: job.callback, outcomes: job.outcomes, memory: memory,
                    at: timekeeper.now)
            }
            for id in forgotten?.map(\.string) ?? [job.id] { savedJobs.forget(id) }
            // The previous process may have ended before it called back.
            let unsent = state.withLock { job.callback == nil ? nil : $0.jobs.report(of: ExactText(job.id)) }
            if let unsent { send(unsent) }
        }
        state.withLock { $0.resumption = nil }
        startRunners()
    }

    private func waitForResumption() async { await state.withLock { $0.resumption }?.value }

    private func startRunners() {
        state.withLock { state in
            while !state.isShutDown, state.jobs.startRunner() {
                state.lastRunner += 1
                let runner = state.lastRunner
                // Safe under the lock: creating a task only enqueues it.
                state.runners[runner] = Task.detached(priority: .background) { await self.run(runner) }
            }
        }
    }

    private func run(_ runner: Int) async {
        while !Task.isCancelled, let assignment = state.withLock({ $0.jobs.nextAssignment() }) {
            let result: PrefetchJobs.ItemResult
            do {
                result = try await render(assignment.item)
            } catch {
                // The next process repeats interrupted work.
                state.withLock { $0.jobs.endRunner() }
                break
            }
            let completion = state.withLock { $0.jobs.finish(assignment, with: result, at: timekeeper.now) }
            if let outcomes = completion.outcomes { savedJobs?.save(outcomes, of: assignment.job.string) }
            if let report = completion.report { send(report) }
        }
        state.withLock { $0.runners[runner] = nil }
        // A job may have been added between the last check and the end.
        startRunners()
    }

    /// If a shutdown interrupts the callback, the next process sends it.
    private func send(_ report: PrefetchReport) {
        sendReport(report) { [savedJobs] outcome in
            if report.callback != nil, outcome != .dropped { savedJobs?.forgetCallback(of: report.id) }
        }
    }

    /// Renders the thumbnail; throws `CancellationError` if the service shuts down.
    private func render(_ item: PrefetchItem) async throws -> PrefetchJobs.ItemResult {
        // An earlier version may have saved the item, or the settings may have changed.
        guard let (work, pipeline) = resolve(item) else {
            let reason = "The saved target or destination is not valid in this version or with these settings."
            return .failed(PrefetchFailure(target: item.target, source: "", code: "bad_parameter", reason: reason))
        }
        let source = work.request.source.string
        var attempt = 1
        while true {
            do {
                while isBusy() { try await timekeeper.sleep(until: timekeeper.now + configuration.pause) }
                let stored = try await withDeadline(timekeeper.now + configuration.timeLimit, by: timekeeper) {
                    try await self.perform(work, in: pipeline)
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

    private func perform(
        _ work: PrefetchWork, in pipeline: any ThumbnailLookup & ThumbnailRendering
    ) async throws -> StoredResult? {
        let job = Job(pipeline.resolved(work.request), receipt: Self.makeID())
        let thumbnail = try await pipeline.thumbnail(for: job)
        guard let destination = work.destination else { return nil }
        return try await work.resultWriter.put(thumbnail, at: destination)
    }

    private static func makeID() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
    }
}
