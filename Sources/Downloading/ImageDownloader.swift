package import Coordination
package import HTTPTypes

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
        /// Sources whose validation nobody waits for.
        var revalidating: Set<SourceIdentity> = []
    }

    /// What a flight brings home.
    private struct Arrival {
        let stored: StoredSource
        let exchange: OriginExchange?
    }

    private let shell: Locked<Shell>
    private let loader: any DataLoading
    private let cache: any SourceCaching
    private let timekeeper: any Timekeeper
    private let observer: DownloadObserver
    private let staleAllowances: StaleAllowances
    private let selectingFields: SelectingFields
    private let origins: Origins

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
        staleAllowances = configuration.staleAllowances
        selectingFields = SelectingFields(configuration)
        origins = configuration.origins
    }

    /// The identity of a source as a client names it: an absolute URL, or `NAME:PATH` of a configured origin.
    package func identity(of source: String) throws(SourceURLError) -> SourceIdentity {
        try origins.identity(of: source)
    }

    /// The source: from the cache, else from a flight under way, else from its origin; a stale copy where the origin fails.
    ///
    /// - Parameters:
    ///   - request: What to fetch.
    ///   - receipt: Name under which this caller's wait can be cancelled.
    ///   - deadline: When the caller's time is over, by the timekeeper's ``Timekeeper/now``. It only orders the queue; a caller
    ///     whose time is over is cancelled by whoever keeps its deadline.
    /// - Throws: A ``DownloadError``, the same for all who share a flight; `CancellationError` when the caller itself is cancelled.
    package func download(_ request: SourceRequest, receipt: String, deadline: Duration? = nil) async throws -> Delivery
    {
        if request.directives.onlyIfCached { return try await cachedDelivery(request) }
        do {
            return try await join(request, receipt: receipt, deadline: deadline)
        } catch let failure as FlightFailure {
            guard let standIn = await standIn(for: request, failure) else { throw failure.error }
            return standIn
        }
    }

    /// What may be done with a stored source for a caller, at this moment.
    package func reuse(of freshness: SourceFreshness, for directives: RequestCacheControl) -> SourceReuse {
        freshness.reuse(at: timekeeper.secondsSince1970, for: directives, staleAllowances)
    }

    /// Validates a source in the background; once at a time, however many ask.
    package func revalidate(_ identity: SourceIdentity) {
        guard shell.withLock({ $0.revalidating.insert(identity).inserted }) else { return }
        Task.detached {
            // Its failure is remembered, and is nobody's answer.
            _ = try? await self.join(
                SourceRequest(identity: identity, needsBytes: false, isBackground: true), receipt: "revalidation",
                deadline: nil)
            self.shell.withLock { _ = $0.revalidating.remove(identity) }
        }
    }

    /// Forgets that a source could not be had; nil stands for all.
    package func forgetFailures(of identity: SourceIdentity? = nil) {
        shell.withLock { shell in
            if let identity { shell.state.failures.forget(identity) } else { shell.state.failures.removeAll() }
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

    /// The origins asked lately and how they are.
    package var originHealth: OriginHealthSummary { loader.originHealth }

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

    private func join(_ request: SourceRequest, receipt: String, deadline: Duration?) async throws -> Delivery {
        let id = shell.withLock { $0.state.announce() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Answer) in
                let looksFurther = cache.hasSlowerLayer
                let entrance = shell.withLock { shell in
                    shell.state.enter(
                        id, request, receipt: receipt, deadline: deadline, at: timekeeper.now, answer: continuation,
                        looksFurther: looksFurther, cached: view(for:))
                }
                switch entrance {
                case .cached(let stored, let reuse, let answer):
                    if reuse == .usableWhileRevalidating { revalidate(request.identity) }
                    answer.resume(returning: Delivery(head: stored.head, bytes: stored.bytes, origin: .cache))
                case .refused(let error, let answer):
                    answer.resume(throwing: error)
                case .failedBefore(let error, let answer):
                    answer.resume(throwing: FlightFailure(error: error, exchange: nil))
                case .waiting(let launches, let isJoined):
                    if isJoined { observer.collapsed() }
                    start(launches)
                case .lookingUp(let launch):
                    start([launch], with: lookUp)
                }
            }
        } onCancel: {
            conclude(shell.withLock { $0.state.leave(id) }, throwing: CancellationError())
        }
    }

    /// What memory knows of a source, and what may be done with it for a caller.
    private func view(for request: SourceRequest) -> State.CacheView? {
        if request.directives.noStore { return nil }
        return cache.stored(for: request.identity).map {
            State.CacheView(stored: $0, reuse: reuse(of: $0, for: request))
        }
    }

    private func reuse(of stored: StoredSource, for request: SourceRequest) -> SourceReuse {
        guard stored.bytes != nil || !request.needsBytes, isSelected(stored.head) else {
            return .needsValidation
        }
        let reuse = reuse(of: stored.head.freshness, for: request.directives)
        return request.isBackground && reuse == .usableWhileRevalidating ? .needsValidation : reuse
    }

    private func isSelected(_ head: SourceHead) -> Bool {
        head.selectingFields.isEmpty || head.isSelected(by: selectingFields.fields(for: head.identity))
    }

    /// For a caller that rules the origin out.
    private func cachedDelivery(_ request: SourceRequest) async throws -> Delivery {
        if let view = view(for: request), view.reuse != .needsValidation {
            return Delivery(head: view.stored.head, bytes: view.stored.bytes, origin: .cache)
        }
        guard cache.hasSlowerLayer, let found = await cache.retrieve(request.identity),
            reuse(of: StoredSource(found), for: request) != .needsValidation
        else { throw DownloadError.notCached }
        cache.admit(found)
        return Delivery(head: found.head, bytes: found.bytes, origin: .cache)
    }

    /// The stale copy that a caller gets where the origin fails.
    private func standIn(for request: SourceRequest, _ failure: FlightFailure) async -> Delivery? {
        guard failure.error.isOriginTrouble else { return nil }
        func isFit(_ head: SourceHead) -> Bool {
            isSelected(head)
                && head.freshness.isUsableOnError(
                    at: timekeeper.secondsSince1970, for: request.directives, staleAllowances)
        }
        let stored = cache.stored(for: request.identity)
        if let stored, stored.bytes != nil || !request.needsBytes {
            guard isFit(stored.head) else { return nil }
            return Delivery(head: stored.head, bytes: stored.bytes, origin: .cache, exchange: failure.exchange)
        }
        guard cache.hasSlowerLayer, let found = await cache.retrieve(request.identity), isFit(found.head) else {
            return nil
        }
        cache.admit(found)
        return Delivery(head: found.head, bytes: found.bytes, origin: .cache, exchange: failure.exchange)
    }
}

/// A source could not be had, and what passed between us and its origin.
private struct FlightFailure: Error {
    let error: DownloadError
    let exchange: OriginExchange?
}

extension ImageDownloader {
    private func start(_ launches: [State.Launch], with work: @escaping @Sendable (State.Launch) async -> Void) {
        for launch in launches {
            // Detached: a flight must not carry the priority and task-local values of the caller that happened to be first.
            let task = Task.detached { await work(launch) }
            let isWanted = shell.withLock { shell in
                let isWanted = shell.state.isWanted(launch.flight)
                if isWanted == true { shell.tasks[launch.flight] = task }
                return isWanted
            }
            if isWanted == false { task.cancel() }
        }
    }

    private func start(_ launches: [State.Launch]) { start(launches, with: fly) }

    /// Asks the slower layers; the flight ends here when they have what its callers may use.
    private func lookUp(_ launch: State.Launch) async {
        let found = await cache.retrieve(launch.request.identity)
        let stored = found.map { StoredSource($0) }
        let reuse = stored.map { self.reuse(of: $0, for: launch.request) } ?? .needsValidation
        if let found, reuse != .needsValidation {
            cache.admit(found)
            if reuse == .usableWhileRevalidating { revalidate(found.identity) }
            let landing = shell.withLock { shell in
                shell.tasks[launch.flight] = nil
                return shell.state.land(launch.flight, at: timekeeper.now)
            }
            start(landing.launches)
            for (answer, _) in landing.answers {
                answer.resume(returning: Delivery(head: found.head, bytes: found.bytes, origin: .cache))
            }
        } else {
            let (launches, refused) = shell.withLock { shell in
                shell.tasks[launch.flight] = nil
                return shell.state.goOn(launch.flight, with: stored, at: timekeeper.now)
            }
            start(launches)
            for answer in refused { answer.resume(throwing: DownloadError.queueFull) }
        }
    }

    private func fly(_ launch: State.Launch) async {
        let identity = launch.request.identity
        let isUnstored = launch.request.directives.noStore
        let reason = reason(for: launch.request, known: launch.known)
        let result: Result<Arrival, any Error>
        do {
            result = .success(try await fetch(launch, reason: reason))
        } catch {
            if !isUnstored, case .notFound? = error as? DownloadError { cache.remove(identity) }
            result = .failure(error)
        }
        let landing = shell.withLock { shell in
            shell.tasks[launch.flight] = nil
            switch result {
            case .success: shell.state.failures.forget(identity)
            case .failure(let error as DownloadError) where !isUnstored:
                shell.state.failures.remember(
                    error, of: identity, atMost: launch.progress.refusalLifetime, at: timekeeper.now)
            case .failure: break
            }
            return shell.state.land(launch.flight, at: timekeeper.now)
        }
        start(landing.launches)
        switch result {
        case .success(let arrival):
            observer.finished(
                arrival.exchange?.status == 304 ? .notModified : .success, launch.progress.receivedBytes)
            for (answer, origin) in landing.answers {
                answer.resume(
                    returning: Delivery(
                        head: arrival.stored.head, bytes: arrival.stored.bytes, origin: origin,
                        exchange: arrival.exchange))
            }
        case .failure(let error):
            observer.finished(DownloadOutcome(error), launch.progress.receivedBytes)
            // A flight that still has callers is never cancelled by us: then the loader itself has stopped.
            let shared = (error as? DownloadError) ?? (error is CancellationError ? .shuttingDown : nil)
            let exchange = OriginExchange(reason: reason, status: shared?.upstreamStatus, hasFailed: true)
            let failure: any Error = shared.map { FlightFailure(error: $0, exchange: exchange) } ?? error
            for (answer, _) in landing.answers { answer.resume(throwing: failure) }
        }
    }

    /// Asks the origin, by what is known where that is worth asking by.
    private func fetch(_ launch: State.Launch, reason: OriginExchange.Reason) async throws -> Arrival {
        let request = launch.request
        var base = launch.known
        if reason == .otherVariant || base?.bytes == nil && request.needsBytes { base = nil }
        let condition = base.flatMap { SourceCondition($0.head) }
        var answer = try await loader.load(
            TransferRequest(identity: request.identity, condition: condition), progress: launch.progress)
        if case .notModified(let confirmation) = answer {
            if let base, let head = base.head.confirmed(by: confirmation) {
                cache.refresh(head)
                let exchange = OriginExchange(reason: reason, status: 304, timings: confirmation.timings)
                return Arrival(stored: StoredSource(head: head, bytes: base.bytes), exchange: exchange)
            }
            // It holds for a version that we do not have: ask for the source itself.
            answer = try await loader.load(TransferRequest(identity: request.identity), progress: launch.progress)
        }
        guard case .source(let source) = answer else {
            throw DownloadError.protocolError("status 304 that nobody asked for")
        }
        if !request.directives.noStore { cache.store(source) }
        return Arrival(
            stored: StoredSource(head: source.head, bytes: source.bytes),
            exchange: OriginExchange(reason: reason, status: source.head.status, timings: source.timings))
    }

    private func reason(for request: SourceRequest, known: StoredSource?) -> OriginExchange.Reason {
        guard let known else { return request.directives.noStore ? .requested : .unknown }
        guard isSelected(known.head) else { return .otherVariant }
        guard known.head.freshness.isFresh(at: timekeeper.secondsSince1970) else { return .stale }
        return request.directives == .none ? .unknown : .requested
    }

    private func conclude(_ departure: State.Departure, throwing error: any Error) {
        let tasks = shell.withLock { shell in departure.abandoned.compactMap { shell.tasks.removeValue(forKey: $0) } }
        for task in tasks { task.cancel() }
        for answer in departure.answers { answer.resume(throwing: error) }
    }
}
