package import Coordination

/// Downloads sources, each at most once at a time for everybody who asks, and no more at once than allowed.
///
/// A flight belongs to none of its callers: it is a task of its own, which the last caller's leaving cancels unless half of
/// the announced bytes are in. Each caller waits under a receipt that can be cancelled without harm to the others.
package final class ImageDownloader: Sendable {
    private typealias Answer = CheckedContinuation<Delivery, any Error>
    private typealias State = ImageDownloaderState<Answer>

    private struct Shell {
        var state: State
        var tasks: [State.FlightID: Task<Void, Never>] = [:]
    }

    private let shell: Locked<Shell>
    private let loader: any DataLoading
    private let cache: any SourceCaching
    private let timekeeper: any Timekeeper
    private let observer: DownloadObserver

    /// A downloader that fetches with `loader` and keeps sources in `cache`.
    package init(
        configuration: DownloadConfiguration, loader: any DataLoading, cache: any SourceCaching,
        timekeeper: any Timekeeper, observer: DownloadObserver = DownloadObserver()
    ) {
        shell = Locked(Shell(state: State(configuration)))
        self.loader = loader
        self.cache = cache
        self.timekeeper = timekeeper
        self.observer = observer
    }

    /// The source: from a flight under way, else from the cache, else from its origin.
    ///
    /// - Parameters:
    ///   - request: What to fetch.
    ///   - receipt: Name under which this caller's wait can be cancelled.
    ///   - deadline: When the caller's time is over, by the timekeeper's ``Timekeeper/now``. It only orders the queue; a caller
    ///     whose time is over is cancelled by whoever keeps its deadline.
    /// - Throws: A ``DownloadError``, the same for all who share a flight; `CancellationError` when the caller itself is cancelled.
    package func download(_ request: SourceRequest, receipt: String, deadline: Duration? = nil) async throws -> Delivery
    {
        let id = shell.withLock { $0.state.announce() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Answer) in
                let entrance = shell.withLock { shell in
                    shell.state.enter(
                        id, request, receipt: receipt, deadline: deadline, at: timekeeper.now, answer: continuation,
                        cached: cache.source(for:))
                }
                switch entrance {
                case .cached(let source, let answer):
                    answer.resume(returning: Delivery(source: source, origin: .cache))
                case .refused(let error, let answer):
                    answer.resume(throwing: error)
                case .waiting(let launches, let isJoined):
                    if isJoined { observer.collapsed() }
                    start(launches)
                }
            }
        } onCancel: {
            conclude(shell.withLock { $0.state.leave(id) }, throwing: CancellationError())
        }
    }

    /// Transfers under way.
    package var activeRequestCount: Int { shell.withLock { $0.state.activeCount } }

    /// Flights that wait for a slot.
    package var queuedRequestCount: Int { shell.withLock { $0.state.queuedCount } }

    /// The flights under way and queued, in the order in which they were begun.
    package var flights: [FlightSnapshot] { shell.withLock { $0.state.snapshots(at: timekeeper.now) } }

    /// Whether downloads have been going on for a second, or did until a moment ago.
    package var isActive: Bool { shell.withLock { $0.state.isActive(at: timekeeper.now) } }

    /// Ends the wait of the caller with this receipt, and nobody else's; false when nobody waits under it.
    package func cancel(receipt: String) -> Bool {
        let departure = shell.withLock { $0.state.leave(receipt: receipt) }
        conclude(departure, throwing: DownloadError.receiptCancelled)
        return !departure.answers.isEmpty
    }

    /// Changes the number of transfers that may run at once; a larger one starts queued downloads at once.
    package func setMaximumActiveDownloads(_ maximum: Int) {
        start(shell.withLock { $0.state.setMaximum(maximum, at: timekeeper.now) })
    }

    /// Refuses callers from now on, answers those who wait with ``DownloadError/shuttingDown``, and cancels all transfers.
    package func shutDown() {
        conclude(shell.withLock { $0.state.shutDown() }, throwing: DownloadError.shuttingDown)
    }

    private func start(_ launches: [State.Launch]) {
        for launch in launches {
            // Detached: a flight must not carry the priority and task-local values of the caller that happened to be first.
            let task = Task.detached { await self.fly(launch) }
            let isWanted = shell.withLock { shell in
                let isWanted = shell.state.isWanted(launch.flight)
                if isWanted == true { shell.tasks[launch.flight] = task }
                return isWanted
            }
            if isWanted == false { task.cancel() }
        }
    }

    private func fly(_ launch: State.Launch) async {
        let result: Result<Source, any Error>
        do {
            result = .success(try await loader.load(launch.request, progress: launch.progress))
        } catch {
            result = .failure(error)
        }
        if case .success(let source) = result { cache.store(source) }
        let landing = shell.withLock { shell in
            shell.tasks[launch.flight] = nil
            return shell.state.land(launch.flight, at: timekeeper.now)
        }
        start(landing.launches)
        switch result {
        case .success(let source):
            observer.finished(.success, launch.progress.receivedBytes)
            for (answer, origin) in landing.answers {
                answer.resume(returning: Delivery(source: source, origin: origin))
            }
        case .failure(let error):
            observer.finished(DownloadOutcome(error), launch.progress.receivedBytes)
            // A flight that still has callers is never cancelled by us: then the loader itself has stopped.
            let shared = error is CancellationError ? DownloadError.shuttingDown : error
            for (answer, _) in landing.answers { answer.resume(throwing: shared) }
        }
    }

    private func conclude(_ departure: State.Departure, throwing error: any Error) {
        let tasks = shell.withLock { shell in departure.abandoned.compactMap { shell.tasks.removeValue(forKey: $0) } }
        for task in tasks { task.cancel() }
        for answer in departure.answers { answer.resume(throwing: error) }
    }
}
