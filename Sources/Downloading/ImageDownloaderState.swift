import Coordination
import Text

struct ImageDownloaderState<Continuation> {
    /// A transfer to start, or a lookup in the layers below memory.
    struct StartAction {
        let fetch: FetchID
        let request: SourceRequest
        let progress: TransferProgress
        /// The stored source, which may be used only if its origin confirms it.
        var storedCopy: SourceCopy?
        /// The time spent in the queue.
        let slotWait: Duration
    }

    enum Admission {
        case cached(SourceCopy, SourceReuse, Continuation)
        case waiting(toStart: [StartAction], isJoined: Bool)
        case lookingUp(StartAction)
        case rejected(any Error, Continuation)
        case failedBefore(DownloadError, Continuation)
    }

    struct LeaveAction {
        var continuations: [Continuation] = []
        var abandoned: [FetchID] = []
    }

    /// The consequences of a lookup in the layers below memory for the fetch's callers.
    struct LookupResult {
        var served: [Continuation] = []
        /// True if a served caller needs a background revalidation and this fetch ends without a transfer.
        var needsRevalidation = false
        var rejected: [Continuation] = []
        var toStart: [StartAction] = []
    }

    struct FinishedFetch {
        var waiters: [(continuation: Continuation, participation: Participation)] = []
        var toStart: [StartAction] = []
    }

    private var slots: DownloadSlots
    private var activity = ActivityIndicator()
    private var lastID: UInt64 = 0
    private var unregisteredWaiters: Set<WaiterID> = []
    private var fetchOfWaiter: [WaiterID: FetchID] = [:]
    private var fetches: [FetchID: SharedFetch<Continuation>] = [:]
    private var fetchOfKey: [FetchKey: FetchID] = [:]
    private var queue: FetchQueue
    private var isShutDown = false
    var failures: FailureMemory

    init(_ configuration: DownloadConfiguration) {
        queue = FetchQueue(order: configuration.order, maximum: configuration.maximumQueuedDownloads)
        slots = DownloadSlots(configuration)
        failures = FailureMemory(configuration)
    }

    var activeCount: Int { slots.activeCount }

    var maximumActiveCount: Int { slots.maximum }

    var queuedCount: Int { queue.count }

    func isActive(at now: Duration) -> Bool { activity.isVisible(at: now) }

    mutating func nextActivityChange(at now: Duration) -> Duration? {
        activity.update(isWorking: slots.activeCount > 0, at: now)
        return activity.nextChange
    }

    /// Registers a caller before it has a continuation, so that cancellation can come first.
    mutating func makeWaiterID() -> WaiterID {
        lastID += 1
        unregisteredWaiters.insert(lastID)
        return lastID
    }

    /// Serves the caller from memory, adds it to a fetch in progress, or begins a fetch.
    ///
    /// A held origin or a remembered failure prevents a new fetch. A new fetch starts, is queued, or first queries the
    /// layers below memory.
    mutating func join(
        _ id: WaiterID, request: SourceRequest, receipt: String, deadline: Duration?, at now: Duration,
        continuation: Continuation, queriesLayersBelowMemory: Bool = false, isHeld: Bool = false,
        cached: (SourceRequest) -> (copy: SourceCopy, reuse: SourceReuse)?
    ) -> Admission {
        guard unregisteredWaiters.remove(id) != nil else { return .rejected(CancellationError(), continuation) }
        guard !isShutDown else { return .rejected(DownloadError.shuttingDown, continuation) }
        let key = FetchKey(request)
        var waiter = Waiter(
            id: id, request: request, receipt: receipt, halfTime: deadline.map { now + ($0 - now) / 2 },
            participation: .joined, continuation: continuation)

        let stored = cached(request)
        if let stored, stored.reuse != .needsValidation { return .cached(stored.copy, stored.reuse, continuation) }

        if let fetch = fetchToJoin(key) {
            fetches[fetch]?.waiters.append(waiter)
            fetchOfWaiter[id] = fetch
            return .waiting(toStart: [], isJoined: true)
        }

        // The caller falls back to a stale copy from any layer.
        if isHeld { return .failedBefore(.originHeld, continuation) }

        if key.mode == .ordinary, let failure = failures.failure(of: key.identity, at: now) {
            return .failedBefore(failure, continuation)
        }

        waiter.participation = .started
        let isWhole = stored.map { $0.copy.bytes != nil || !request.needsBytes } ?? false
        return register(
            waiter, key: key, storedCopy: stored?.copy,
            queriesLayersBelowMemory: queriesLayersBelowMemory && key.mode != .unstored && !isWhole, at: now)
    }

    private mutating func register(
        _ waiter: Waiter<Continuation>, key: FetchKey, storedCopy: SourceCopy?, queriesLayersBelowMemory: Bool,
        at now: Duration
    ) -> Admission {
        lastID += 1
        var fetch = SharedFetch<Continuation>(
            id: lastID, key: key, request: waiter.request, startedAt: now, queuedAt: now)
        fetch.waiters = [waiter]
        fetch.storedCopy = storedCopy
        if !queriesLayersBelowMemory {
            fetch.slot = slots.acquire(for: fetch.host, of: waiter.request.flow, progress: fetch.progress, at: now)
            guard fetch.slot != nil || queue.accepts(fetch, among: fetches) else {
                return .rejected(DownloadError.queueFull, waiter.continuation)
            }
        }
        fetches[fetch.id] = fetch
        fetchOfKey[key] = fetch.id
        fetchOfWaiter[waiter.id] = fetch.id

        if queriesLayersBelowMemory { return .lookingUp(action(of: fetch, at: now)) }
        guard fetch.slot != nil else {
            queue.append(fetch.id)
            return .waiting(toStart: [], isJoined: false)
        }
        activity.update(isWorking: true, at: now)
        return .waiting(toStart: [action(of: fetch, at: now)], isJoined: false)
    }

    /// Serves callers that may use the source from the layers below memory; for the rest, the fetch continues.
    mutating func endLookup(
        _ id: FetchID, with retrieved: SourceCopy?, at now: Duration, reuse: (SourceRequest) -> SourceReuse
    ) -> LookupResult {
        var end = LookupResult()
        guard var fetch = fetches[id], !fetch.isAbandoned else { return end }
        let waiters = fetch.waiters
        fetch.waiters = []
        for waiter in waiters {
            let reuse = retrieved == nil ? .needsValidation : reuse(waiter.request)
            if reuse == .needsValidation {
                fetch.waiters.append(waiter)
            } else {
                end.served.append(waiter.continuation)
                end.needsRevalidation = end.needsRevalidation || reuse == .usableWhileRevalidating
                fetchOfWaiter[waiter.id] = nil
            }
        }
        fetches[id] = fetch
        guard let leader = fetch.waiters.first(where: \.request.needsBytes) ?? fetch.waiters.first else {
            end.toStart = finish(id, at: now).toStart
            return end
        }
        end.needsRevalidation = false
        fetch.request = leader.request
        fetch.storedCopy = retrieved ?? fetch.storedCopy
        fetch.queuedAt = now
        fetch.slot = slots.acquire(for: fetch.host, of: fetch.request.flow, progress: fetch.progress, at: now)
        guard fetch.slot != nil || queue.accepts(fetch, among: fetches) else {
            end.rejected = finish(id, at: now).waiters.map(\.continuation)
            return end
        }
        fetches[id] = fetch
        if fetch.slot == nil {
            queue.append(id)
        } else {
            activity.update(isWorking: true, at: now)
            end.toStart = [action(of: fetch, at: now)]
        }
        return end
    }

    mutating func leave(_ id: WaiterID) -> LeaveAction {
        if unregisteredWaiters.remove(id) != nil { return LeaveAction() }
        guard let fetch = fetchOfWaiter[id] else { return LeaveAction() }
        return leave(fetch) { $0.id == id }
    }

    mutating func leave(receipt: String) -> LeaveAction {
        let ids = fetches.values.filter { $0.waiters.contains { $0.receipt.isExactly(receipt) } }.map(\.id)
        return leave(ids) { $0.receipt.isExactly(receipt) }
    }

    mutating func leave(source: SourceIdentity) -> (leaveAction: LeaveAction, fetchCount: Int) {
        let ids = fetches.values.filter { source.matches($0.key.identity) && !$0.isAbandoned }.map(\.id)
        return (leave(ids, includesNearlyComplete: true) { _ in true }, ids.count)
    }

    /// Frees the fetch's slot, and resumes its callers in order of arrival.
    ///
    /// - Parameter failedTarget: The target of a failed transfer; nil after success. Callers with another target do not
    ///   receive the failure: they continue in a separate fetch.
    mutating func finish(_ id: FetchID, failing failedTarget: FetchedTarget? = nil, at now: Duration) -> FinishedFetch {
        guard let fetch = fetches.removeValue(forKey: id) else { return FinishedFetch() }
        if fetchOfKey[fetch.key] == id { fetchOfKey[fetch.key] = nil }
        if let slot = fetch.slot { slots.release(slot, at: now) }
        let isAffected = { (waiter: Waiter<Continuation>) in
            failedTarget.map { $0 == FetchedTarget(waiter.request.identity) } ?? true
        }
        let finished = fetch.waiters.filter(isAffected)
        for waiter in finished { fetchOfWaiter[waiter.id] = nil }
        let others = Dictionary(grouping: fetch.waiters.filter { !isAffected($0) }) {
            FetchedTarget($0.request.identity)
        }
        let next = others.values.sorted { $0[0].id < $1[0].id }.map { requeue($0, of: fetch, at: now) }
        queue.prepend(next)
        let toStart = startQueued(at: now)
        activity.update(isWorking: slots.activeCount > 0, at: now)
        return FinishedFetch(waiters: finished.map { ($0.continuation, $0.participation) }, toStart: toStart)
    }

    /// After a fetch failed for one target, lets callers of another target continue in the next fetch to start.
    private mutating func requeue(
        _ waiters: [Waiter<Continuation>], of fetch: SharedFetch<Continuation>, at now: Duration
    ) -> FetchID {
        lastID += 1
        var next = SharedFetch<Continuation>(
            id: lastID, key: fetch.key, request: waiters.first?.request ?? fetch.request, startedAt: fetch.startedAt,
            queuedAt: now)
        next.waiters = waiters
        next.storedCopy = fetch.storedCopy
        next.isInvalidated = fetch.isInvalidated
        fetches[next.id] = next
        if fetchOfKey[next.key] == nil, !next.isInvalidated { fetchOfKey[next.key] = next.id }
        for waiter in waiters { fetchOfWaiter[waiter.id] = next.id }
        return next.id
    }

    /// Applies a new configuration; drops remembered failures, which the earlier one may have caused.
    mutating func setConfiguration(_ configuration: DownloadConfiguration, at now: Duration) -> [StartAction] {
        slots.setConfiguration(configuration)
        queue.maximum = configuration.maximumQueuedDownloads
        failures.removeAll()
        let toStart = startQueued(at: now)
        activity.update(isWorking: slots.activeCount > 0, at: now)
        return toStart
    }

    mutating func shutDown() -> LeaveAction {
        isShutDown = true
        return leave(Array(fetches.keys), includesNearlyComplete: true) { _ in true }
    }

    func isWanted(_ id: FetchID) -> Bool? { fetches[id].map { !$0.isAbandoned } }

    /// Whether a caller refreshes the source: a failed refresh keeps existing copies.
    func isRefresh(_ id: FetchID) -> Bool { fetches[id]?.waiters.contains { $0.request.isRefresh } ?? false }

    func isInvalidated(_ id: FetchID) -> Bool { fetches[id]?.isInvalidated ?? false }

    mutating func invalidate(_ identity: SourceIdentity?) {
        for (id, fetch) in fetches where !queue.contains(id) && identity?.matches(fetch.key.identity) ?? true {
            fetches[id]?.isInvalidated = true
            if fetchOfKey[fetch.key] == id { fetchOfKey[fetch.key] = nil }
        }
    }

    func snapshots(at now: Duration) -> [FetchSnapshot] {
        fetches.values.filter { !$0.isAbandoned }.sorted { $0.id < $1.id }.map { fetch in
            FetchSnapshot(
                source: fetch.request.identity.name, host: String(fetch.request.identity.url.authority),
                isRunning: fetch.slot != nil, receivedBytes: fetch.progress.receivedBytes,
                expectedBytes: fetch.progress.expectedBytes, age: now - fetch.startedAt,
                receipts: fetch.waiters.map(\.receipt))
        }
    }

    private mutating func leave(
        _ ids: [FetchID], includesNearlyComplete: Bool = false, where isLeaving: (Waiter<Continuation>) -> Bool
    ) -> LeaveAction {
        var leaveAction = LeaveAction()
        for id in ids.sorted() {
            let action = leave(id, includesNearlyComplete: includesNearlyComplete, where: isLeaving)
            leaveAction.continuations += action.continuations
            leaveAction.abandoned += action.abandoned
        }
        return leaveAction
    }

    private mutating func leave(
        _ id: FetchID, includesNearlyComplete: Bool = false, where isLeaving: (Waiter<Continuation>) -> Bool
    ) -> LeaveAction {
        guard var fetch = fetches[id], !fetch.isAbandoned else { return LeaveAction() }
        let leaving = fetch.waiters.filter(isLeaving)
        fetch.waiters.removeAll(where: isLeaving)
        for waiter in leaving { fetchOfWaiter[waiter.id] = nil }
        var leaveAction = LeaveAction(continuations: leaving.map(\.continuation))
        if fetch.waiters.isEmpty {
            if fetch.slot == nil {
                queue.remove(id)
                fetchOfKey[fetch.key] = nil
                fetches[id] = nil
                return leaveAction
            }
            if includesNearlyComplete || !fetch.progress.isPastHalf {
                // A later caller of this URL starts a new fetch; the slot is in use until the transfer has ended.
                fetch.isAbandoned = true
                fetchOfKey[fetch.key] = nil
                leaveAction.abandoned = [id]
            }
        }
        fetches[id] = fetch
        return leaveAction
    }

    private mutating func startQueued(at now: Duration) -> [StartAction] {
        var toStart: [StartAction] = []
        while let id = queue.popNext(from: fetches, for: slots, at: now) {
            guard let fetch = fetches[id] else { continue }
            fetches[id]?.slot = slots.acquire(
                for: fetch.host, of: fetch.request.flow, progress: fetch.progress, at: now)
            toStart.append(action(of: fetch, at: now))
        }
        return toStart
    }

    /// Returns a fetch to join; a fetch of ranges only if the origin sends the whole source.
    private func fetchToJoin(_ key: FetchKey) -> FetchID? {
        if let fetch = fetchOfKey[key] { return fetch }
        return key.joinableKeys.lazy.compactMap { fetchOfKey[$0] }.first { id in
            guard let fetch = fetches[id] else { return false }
            return [key.extent, .whole].contains(fetch.key.extent) || fetch.progress.isWhole
        }
    }

    private func action(of fetch: SharedFetch<Continuation>, at now: Duration) -> StartAction {
        StartAction(
            fetch: fetch.id, request: fetch.key.extent == .whole ? fetch.request.withoutScan : fetch.request,
            progress: fetch.progress, storedCopy: fetch.storedCopy, slotWait: now - fetch.queuedAt)
    }
}
