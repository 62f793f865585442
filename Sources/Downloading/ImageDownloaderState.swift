import Coordination
import Text

struct ImageDownloaderState<Answer> {
    /// A transfer to start, or a lookup in the slower layers of the cache.
    struct Launch {
        let flight: FetchID
        let request: SourceRequest
        let progress: TransferProgress
        /// The stored source, which must not be used before its origin confirms it.
        var known: SourceCopy?
    }

    enum Admission {
        case cached(SourceCopy, SourceReuse, Answer)
        case waiting(launches: [Launch], isJoined: Bool)
        case lookingUp(Launch)
        case refused(any Error, Answer)
        case failedBefore(DownloadError, Answer)
    }

    struct Departure {
        var answers: [Answer] = []
        var abandoned: [FetchID] = []
    }

    /// The consequences for a fetch's callers after the lookup in the slower layers.
    struct LookupResult {
        var served: [Answer] = []
        /// One of them may use it only while it is revalidated, and no transfer of this fetch will do so.
        var needsRevalidation = false
        var refused: [Answer] = []
        var launches: [Launch] = []
    }

    struct Completion {
        var answers: [(answer: Answer, participation: Participation)] = []
        var launches: [Launch] = []
    }

    private var slots: DownloadSlots
    private var activity = ActivityIndicator()
    private var lastID: UInt64 = 0
    private var arriving: Set<WaiterID> = []
    private var waiterFlights: [WaiterID: FetchID] = [:]
    private var flights: [FetchID: SharedFetch<Answer>] = [:]
    private var current: [FetchKey: FetchID] = [:]
    private var queue: FetchQueue
    private var isShutDown = false
    var failures: FailureMemory

    init(_ configuration: DownloadConfiguration) {
        queue = FetchQueue(order: configuration.order, maximum: configuration.maximumQueuedDownloads)
        slots = DownloadSlots(
            maximum: configuration.maximumActiveDownloads, perHost: configuration.maximumActiveDownloadsPerHost,
            exceptions: configuration.origins.maximumActiveDownloads)
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

    /// Lets a caller leave before it has begun to wait.
    mutating func announce() -> WaiterID {
        lastID += 1
        arriving.insert(lastID)
        return lastID
    }

    /// Looks in memory; else joins a fetch; else checks for a remembered failure; else registers a fetch, and starts
    /// it, enqueues it, or queries slower layers.
    mutating func enter(
        _ id: WaiterID, _ request: SourceRequest, receipt: String, deadline: Duration?, at now: Duration,
        answer: Answer, looksFurther: Bool = false, cached: (SourceRequest) -> (copy: SourceCopy, reuse: SourceReuse)?
    ) -> Admission {
        guard arriving.remove(id) != nil else { return .refused(CancellationError(), answer) }
        guard !isShutDown else { return .refused(DownloadError.shuttingDown, answer) }
        let key = FetchKey(request)
        let halfTime = deadline.map { now + ($0 - now) / 2 }
        func waiter(_ participation: Participation) -> Waiter<Answer> {
            Waiter(
                id: id, request: request, receipt: receipt, halfTime: halfTime, participation: participation,
                answer: answer)
        }

        let view = cached(request)
        if let view, view.reuse != .needsValidation { return .cached(view.copy, view.reuse, answer) }

        if let flight = flightToJoin(key) {
            flights[flight]?.waiters.append(waiter(.joined))
            waiterFlights[id] = flight
            return .waiting(launches: [], isJoined: true)
        }

        if key.mode == .ordinary, let failure = failures.failure(of: key.identity, at: now) {
            return .failedBefore(failure, answer)
        }

        lastID += 1
        var flight = SharedFetch<Answer>(id: lastID, key: key, request: request, startedAt: now)
        flight.waiters = [waiter(.started)]
        flight.known = view?.copy
        let isWhole = view.map { $0.copy.bytes != nil || !request.needsBytes } ?? false
        let looksFurther = looksFurther && key.mode != .unstored && !isWhole
        let slot = looksFurther ? nil : slots.take(for: flight.host, flight.progress, at: now)
        guard slot != nil || looksFurther || queue.hasRoom else {
            return .refused(DownloadError.queueFull, answer)
        }
        flight.slot = slot
        flights[flight.id] = flight
        current[key] = flight.id
        waiterFlights[id] = flight.id

        if looksFurther { return .lookingUp(launch(of: flight)) }
        guard slot != nil else {
            queue.append(flight.id)
            return .waiting(launches: [], isJoined: false)
        }
        activity.update(isWorking: true, at: now)
        return .waiting(launches: [launch(of: flight)], isJoined: false)
    }

    /// The fetch continues at its origin for callers that may not use the source from the slower layers.
    mutating func endLookup(
        _ id: FetchID, with found: SourceCopy?, at now: Duration, reuse: (SourceRequest) -> SourceReuse
    ) -> LookupResult {
        var end = LookupResult()
        guard var flight = flights[id], !flight.isAbandoned else { return end }
        let waiters = flight.waiters
        flight.waiters = []
        for waiter in waiters {
            let reuse = found == nil ? .needsValidation : reuse(waiter.request)
            if reuse == .needsValidation {
                flight.waiters.append(waiter)
            } else {
                end.served.append(waiter.answer)
                end.needsRevalidation = end.needsRevalidation || reuse == .usableWhileRevalidating
                waiterFlights[waiter.id] = nil
            }
        }
        flights[id] = flight
        guard let leader = flight.waiters.first(where: \.request.needsBytes) ?? flight.waiters.first else {
            end.launches = finish(id, at: now).launches
            return end
        }
        end.needsRevalidation = false
        flight.request = leader.request
        flight.known = found ?? flight.known
        flight.slot = slots.take(for: flight.host, flight.progress, at: now)
        guard flight.slot != nil || queue.hasRoom else {
            end.refused = finish(id, at: now).answers.map(\.answer)
            return end
        }
        flights[id] = flight
        if flight.slot == nil {
            queue.append(id)
        } else {
            activity.update(isWorking: true, at: now)
            end.launches = [launch(of: flight)]
        }
        return end
    }

    mutating func leave(_ id: WaiterID) -> Departure {
        if arriving.remove(id) != nil { return Departure() }
        guard let flight = waiterFlights[id] else { return Departure() }
        return leave(flight) { $0.id == id }
    }

    mutating func leave(receipt: String) -> Departure {
        let ids = flights.values.filter { $0.waiters.contains { $0.receipt.isExactly(receipt) } }.map(\.id)
        return leave(ids) { $0.receipt.isExactly(receipt) }
    }

    mutating func leave(source: SourceIdentity) -> (departure: Departure, flightCount: Int) {
        let ids = flights.values.filter { $0.key.identity == source && !$0.isAbandoned }.map(\.id)
        return (leave(ids, evenPastHalf: true) { _ in true }, ids.count)
    }

    /// Frees the fetch's slot, and resumes its callers in order of arrival.
    ///
    /// - Parameter failedTarget: Nil if the transfer succeeded. Callers with another target do not receive its failure:
    ///   they continue in a separate fetch.
    mutating func finish(_ id: FetchID, failing failedTarget: FetchedTarget? = nil, at now: Duration) -> Completion {
        guard let flight = flights.removeValue(forKey: id) else { return Completion() }
        if current[flight.key] == id { current[flight.key] = nil }
        if let slot = flight.slot { slots.release(slot, at: now) }
        let isAnswered = { (waiter: Waiter<Answer>) in
            failedTarget.map { $0 == FetchedTarget(waiter.request.identity) } ?? true
        }
        let answered = flight.waiters.filter(isAnswered)
        for waiter in answered { waiterFlights[waiter.id] = nil }
        let others = Dictionary(grouping: flight.waiters.filter { !isAnswered($0) }) {
            FetchedTarget($0.request.identity)
        }
        let next = others.values.sorted { $0[0].id < $1[0].id }.map { requeue($0, of: flight) }
        queue.putNext(next)
        let launches = startQueued(at: now)
        activity.update(isWorking: slots.activeCount > 0, at: now)
        return Completion(answers: answered.map { ($0.answer, $0.participation) }, launches: launches)
    }

    /// Callers of one target go on, as the next fetch to start, after their shared fetch failed for another.
    private mutating func requeue(_ waiters: [Waiter<Answer>], of flight: SharedFetch<Answer>) -> FetchID {
        lastID += 1
        var next = SharedFetch<Answer>(
            id: lastID, key: flight.key, request: waiters.first?.request ?? flight.request, startedAt: flight.startedAt)
        next.waiters = waiters
        next.known = flight.known
        next.isInvalidated = flight.isInvalidated
        flights[next.id] = next
        if current[next.key] == nil, !next.isInvalidated { current[next.key] = next.id }
        for waiter in waiters { waiterFlights[waiter.id] = next.id }
        return next.id
    }

    mutating func setMaximum(_ maximum: Int, at now: Duration) -> [Launch] {
        slots.maximum = maximum
        let launches = startQueued(at: now)
        activity.update(isWorking: slots.activeCount > 0, at: now)
        return launches
    }

    mutating func shutDown() -> Departure {
        isShutDown = true
        return leave(Array(flights.keys), evenPastHalf: true) { _ in true }
    }

    func isWanted(_ id: FetchID) -> Bool? { flights[id].map { !$0.isAbandoned } }

    /// Whether a caller wants to keep the copies of its source if its origin sends no image.
    func isRefresh(_ id: FetchID) -> Bool { flights[id]?.waiters.contains { $0.request.isRefresh } ?? false }

    func isInvalidated(_ id: FetchID) -> Bool { flights[id]?.isInvalidated ?? false }

    mutating func invalidate(_ identity: SourceIdentity?) {
        for (id, flight) in flights where !queue.contains(id) && identity ?? flight.key.identity == flight.key.identity
        {
            flights[id]?.isInvalidated = true
            if current[flight.key] == id { current[flight.key] = nil }
        }
    }

    func snapshots(at now: Duration) -> [FetchSnapshot] {
        flights.values.filter { !$0.isAbandoned }.sorted { $0.id < $1.id }.map { flight in
            FetchSnapshot(
                source: flight.request.identity.name, host: flight.request.identity.url.host,
                isRunning: flight.slot != nil, receivedBytes: flight.progress.receivedBytes,
                expectedBytes: flight.progress.expectedBytes, age: now - flight.startedAt,
                receipts: flight.waiters.map(\.receipt))
        }
    }

    private mutating func leave(
        _ ids: [FetchID], evenPastHalf: Bool = false, where isLeaving: (Waiter<Answer>) -> Bool
    ) -> Departure {
        var departure = Departure()
        for id in ids.sorted() {
            let part = leave(id, evenPastHalf: evenPastHalf, where: isLeaving)
            departure.answers += part.answers
            departure.abandoned += part.abandoned
        }
        return departure
    }

    private mutating func leave(
        _ id: FetchID, evenPastHalf: Bool = false, where isLeaving: (Waiter<Answer>) -> Bool
    ) -> Departure {
        guard var flight = flights[id], !flight.isAbandoned else { return Departure() }
        let leaving = flight.waiters.filter(isLeaving)
        flight.waiters.removeAll(where: isLeaving)
        for waiter in leaving { waiterFlights[waiter.id] = nil }
        var departure = Departure(answers: leaving.map(\.answer))
        if flight.waiters.isEmpty {
            if flight.slot == nil {
                queue.remove(id)
                current[flight.key] = nil
                flights[id] = nil
                return departure
            }
            if evenPastHalf || !flight.progress.isPastHalf {
                // A later caller of this URL gets a separate fetch; the slot stays taken until the transfer has ended.
                flight.isAbandoned = true
                current[flight.key] = nil
                departure.abandoned = [id]
            }
        }
        flights[id] = flight
        return departure
    }

    private mutating func startQueued(at now: Duration) -> [Launch] {
        var launches: [Launch] = []
        while let id = queue.popNext(from: flights, for: slots, at: now) {
            guard let flight = flights[id] else { continue }
            flights[id]?.slot = slots.take(for: flight.host, flight.progress, at: now)
            launches.append(launch(of: flight))
        }
        return launches
    }

    /// An ordinary caller may join a reload; a reload may not join a fetch whose response may be older than the reload.
    private func flightToJoin(_ key: FetchKey) -> FetchID? {
        if let flight = current[key] { return flight }
        return key.mode == .ordinary ? current[FetchKey(identity: key.identity, mode: .reload)] : nil
    }

    private func launch(of flight: SharedFetch<Answer>) -> Launch {
        Launch(flight: flight.id, request: flight.request, progress: flight.progress, known: flight.known)
    }
}
