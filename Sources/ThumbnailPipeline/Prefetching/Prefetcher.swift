package import Coordination
package import DiskCaching
import HTTPTypes
package import Telemetry

/// Makes thumbnails ahead of their readers, a few at a time, and only while nobody waits for anything else.
///
/// A thumbnail is begun when no render and no download of a reader's is queued; what it makes is found in the caches afterwards.
/// Where there is a disk, jobs are written down before they begin and go on after a restart.
package final class Prefetcher: Prefetching {
    private struct State {
        var jobs: PrefetchJobs
        var runners: [Int: Task<Void, Never>] = [:]
        var lastRunner = 0
        var isStopped = false
    }

    private let configuration: PrefetchConfiguration
    private let thumbnails: any ThumbnailServing
    private let isBusy: @Sendable () -> Bool
    private let notes: PrefetchNotes?
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let state: Locked<State>

    /// A prefetcher without jobs.
    ///
    /// - Parameters:
    ///   - configuration: Its bounds.
    ///   - thumbnails: Makes the thumbnails.
    ///   - isBusy: Whether readers wait for something.
    ///   - store: Where jobs are written down; nil where nothing is.
    ///   - logger: Told why a thumbnail was given up, on the level for developers.
    ///   - timekeeper: The time.
    package init(
        configuration: PrefetchConfiguration, thumbnails: any ThumbnailServing, isBusy: @escaping @Sendable () -> Bool,
        store: DiskStore?, logger: Logger, timekeeper: any Timekeeper
    ) {
        self.configuration = configuration
        self.thumbnails = thumbnails
        self.isBusy = isBusy
        notes = store.map { PrefetchNotes($0) }
        self.logger = logger
        self.timekeeper = timekeeper
        state = Locked(State(jobs: PrefetchJobs(configuration)))
    }

    /// Begins a job; when this returns it is written down, where that can be.
    package func begin(_ items: [PrefetchItem]) async throws -> String {
        let id = Self.makeID()
        try makeRoom()
        await notes?.keep(id, items)
        state.withLock { $0.jobs.add(id, items, at: timekeeper.now) }
        start()
        return id
    }

    /// How far a job has come.
    package func status(of id: String) -> PrefetchStatus? {
        state.withLock { $0.jobs.status(of: id, at: timekeeper.now) }
    }

    /// Goes on with the jobs that were written down by an earlier process.
    ///
    /// - Parameter request: Reads a target again; nil where it is none any more.
    package func resume(reading request: (String) -> ThumbnailRequest?) async {
        guard let notes else { return }
        for job in await notes.jobs() {
            let items = job.targets.map { target in request(target).map { PrefetchItem(target: target, request: $0) } }
            guard !items.isEmpty, !items.contains(where: { $0 == nil }), (try? makeRoom()) != nil else {
                notes.forget(job.id)
                continue
            }
            state.withLock {
                $0.jobs.add(job.id, items.compactMap { $0 }, outcomes: job.outcomes, at: timekeeper.now)
            }
        }
        start()
    }

    /// Ends what is under way; jobs that are written down go on with the next process.
    package func shutDown() {
        let (runners, unfinished) = state.withLock { state in
            state.isStopped = true
            return (Array(state.runners.values), state.jobs.unfinished)
        }
        for runner in runners { runner.cancel() }
        for job in unfinished { notes?.keep(job.id, outcomes: job.outcomes) }
    }

    private func makeRoom() throws(PipelineError) {
        let forgotten = state.withLock { $0.jobs.makeRoom(at: timekeeper.now) }
        guard let forgotten else { throw PipelineError.tooManyPrefetchJobs }
        for id in forgotten { notes?.forget(id) }
    }

    private func start() {
        state.withLock { state in
            while !state.isStopped, state.jobs.takePlace() {
                state.lastRunner += 1
                let runner = state.lastRunner
                // Sound under the lock: creating a task only enqueues it.
                state.runners[runner] = Task.detached(priority: .background) { await self.run(runner) }
            }
        }
    }

    private func run(_ runner: Int) async {
        while !Task.isCancelled, let assignment = state.withLock({ $0.jobs.nextAssignment() }) {
            let outcome = await outcome(of: assignment.item)
            // Work that was cut short is left for the next process.
            guard let outcome else {
                state.withLock { $0.jobs.leavePlace() }
                break
            }
            let note = state.withLock { $0.jobs.finish(assignment, outcome, at: timekeeper.now) }
            if let note { notes?.keep(assignment.job, outcomes: note) }
        }
        state.withLock { $0.runners[runner] = nil }
        // A job may have come between the last look and the end.
        start()
    }

    /// What became of a thumbnail; nil when the service ends.
    private func outcome(of item: PrefetchItem) async -> PrefetchJobs.Outcome? {
        for _ in 0..<configuration.attempts {
            do {
                while isBusy() { try await timekeeper.sleep(until: timekeeper.now + configuration.pause) }
                _ = try await withDeadline(timekeeper.now + configuration.timeLimit, by: timekeeper) {
                    try await self.thumbnails.thumbnail(
                        for: item.request, directives: .none, receipt: Self.makeID())
                }
                return .done
            } catch is CancellationError {
                return nil
            } catch {
                logger.debug("prefetch failed", ["target": .string(item.target), "detail": .string("\(error)")])
                guard let error = error as? any ServiceError, let wait = error.retryAfter else { return .failed }
                // Room comes back by itself; an origin that is suspended is left alone for as long as it says.
                if error.category != .overload {
                    let end = timekeeper.now + .seconds(wait)
                    guard (try? await timekeeper.sleep(until: end)) != nil else { return nil }
                }
            }
        }
        return .failed
    }

    private static func makeID() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
    }
}
