import Text

/// The downloader's book-keeping: flights, their waiters, the queue and the slots, as a value without locks or tasks.
///
/// Every change returns the actions for the shell. `Answer` stands for a caller's continuation.
struct ImageDownloaderState<Answer> {
    /// A transfer to start, or a look into the slower layers of the cache.
    struct Launch {
        let flight: FlightID
        let request: SourceRequest
        let progress: TransferProgress
        /// The stored source, which must not be used before its origin confirms it.
        var known: StoredSource?
    }

    /// The decision about a new caller.
    enum Entrance {
        /// Answer it at once.
        case cached(StoredSource, SourceReuse, Answer)
        /// It waits; start these.
        case waiting(launches: [Launch], isJoined: Bool)
        /// It waits; look into the slower layers first.
        case lookingUp(Launch)
        /// It is refused with this error.
        case refused(any Error, Answer)
        /// Refuse it because its source failed a short while ago.
        case failedBefore(DownloadError, Answer)
    }

    /// The source in memory, and whether it answers a caller.
    struct CacheView {
        let stored: StoredSource
        let reuse: SourceReuse
    }

    /// The consequences of callers that left.
    struct Departure {
        var answers: [Answer] = []
        var abandoned: [FlightID] = []
    }

    /// The consequences for a flight's callers when the slower layers have been asked.
    struct LookUpEnd {
        /// The callers that the found source answers.
        var served: [Answer] = []
        /// Whether one of them may use it only while its origin is asked, and no transfer of this flight will ask.
        var needsRevalidation = false
        /// The callers for which there is no room to wait for a transfer.
        var refused: [Answer] = []
        var launches: [Launch] = []
    }

    /// The consequences for a flight's callers when it has ended.
    struct Landing {
        var answers: [(answer: Answer, participation: Delivery.Participation)] = []
        var launches: [Launch] = []
    }

    private var slots: DownloadSlots
    private var activity = ActivityIndicator()
    private var lastID: UInt64 = 0
    private var arriving: Set<WaiterID> = []
    private var waiterFlights: [WaiterID: FlightID] = [:]
    private var flights: [FlightID: Flight<Answer>] = [:]
    private var current: [FlightKey: FlightID] = [:]
    private var queue: FlightQueue
    private var isShutDown = false
    /// The remembered failures of sources.
    var failures: FailureMemory

    init(_ configuration: DownloadConfiguration) {
        queue = FlightQueue(order: configuration.order, maximum: configuration.maximumQueuedDownloads)
        slots = DownloadSlots(
            maximum: configuration.maximumActiveDownloads, perHost: configuration.maximumActiveDownloadsPerHost,
            exceptions: configuration.origins.maximumActiveDownloads)
        failures = FailureMemory(configuration)
    }

    /// Transfers that hold a slot.
    var activeCount: Int { slots.activeCount }

    /// Most transfers that may hold a slot.
    var maximumActiveCount: Int { slots.maximum }

    /// Flights that wait for a slot.
    var queuedCount: Int { queue.count }

    /// Whether work shows at `now`.
    func isActive(at now: Duration) -> Bool { activity.isVisible(at: now) }

    /// When work will begin or cease to show if nothing happens; nil if it will not.
    mutating func nextActivityChange(at now: Duration) -> Duration? {
        activity.update(isWorking: slots.activeCount > 0, at: now)
        return activity.nextChange
    }

    /// Announces a caller, so that it can leave before it has begun to wait.
    mutating func announce() -> WaiterID {
        lastID += 1
        arriving.insert(lastID)
        return lastID
    }

    /// Lets a caller in, in five steps: ask memory; else join a flight; else recall a failure; else create, register,
    /// and start, enqueue, or look further.
    mutating func enter(
        _ id: WaiterID, _ request: SourceRequest, receipt: String, deadline: Duration?, at now: Duration,
        answer: Answer, looksFurther: Bool = false, cached: (SourceRequest) -> CacheView?
    ) -> Entrance {
        guard arriving.remove(id) != nil else { return .refused(CancellationError(), answer) }
        guard !isShutDown else { return .refused(DownloadError.shuttingDown, answer) }
        let key = FlightKey(request)
        let halfTime = deadline.map { now + ($0 - now) / 2 }
        func waiter(_ participation: Delivery.Participation) -> Waiter<Answer> {
            Waiter(
                id: id, request: request, receipt: receipt, halfTime: halfTime, participation: participation,
                answer: answer)
        }

        let view = cached(request)
        if let view, view.reuse != .needsValidation { return .cached(view.stored, view.reuse, answer) }

        if let flight = flightToJoin(key) {
            flights[flight]?.waiters.append(waiter(.joined))
            waiterFlights[id] = flight
            return .waiting(launches: [], isJoined: true)
        }

        if key.mode == .ordinary, let failure = failures.failure(of: key.identity, at: now) {
            return .failedBefore(failure, answer)
        }

        lastID += 1
        var flight = Flight<Answer>(id: lastID, key: key, request: request, startedAt: now)
        flight.waiters = [waiter(.started)]
        flight.known = view?.stored
        let isWhole = view.map { $0.stored.bytes != nil || !request.needsBytes } ?? false
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

    /// Answers the callers that may use the source from the slower layers, and lets the flight go on to its origin
    /// for the others.
    ///
    /// - Parameters:
    ///   - id: The flight.
    ///   - found: The source in the slower layers.
    ///   - now: The time.
    ///   - reuse: How it may be used for one caller.
    mutating func endLookUp(
        _ id: FlightID, with found: StoredSource?, at now: Duration, reuse: (SourceRequest) -> SourceReuse
    ) -> LookUpEnd {
        var end = LookUpEnd()
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
            end.launches = land(id, at: now).launches
            return end
        }
        end.needsRevalidation = false
        flight.request = leader.request
        flight.known = found ?? flight.known
        flight.slot = slots.take(for: flight.host, flight.progress, at: now)
        guard flight.slot != nil || queue.hasRoom else {
            end.refused = land(id, at: now).answers.map(\.answer)
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

    /// Removes one caller.
    mutating func leave(_ id: WaiterID) -> Departure {
        if arriving.remove(id) != nil { return Departure() }
        guard let flight = waiterFlights[id] else { return Departure() }
        return leave(flight) { $0.id == id }
    }

    /// Removes the callers that wait under `receipt`.
    mutating func leave(receipt: String) -> Departure {
        var departure = Departure()
        for flight in flights.values.filter({ $0.waiters.contains { $0.receipt.isExactly(receipt) } }).map(\.id)
            .sorted()
        {
            let part = leave(flight) { $0.receipt.isExactly(receipt) }
            departure.answers += part.answers
            departure.abandoned += part.abandoned
        }
        return departure
    }

    /// Removes all callers of a source, and its flights with them; returns how many flights that were.
    mutating func leave(source: SourceIdentity) -> (departure: Departure, flightCount: Int) {
        var departure = Departure()
        let ids = flights.values.filter { $0.key.identity == source && !$0.isAbandoned }.map(\.id).sorted()
        for id in ids {
            let part = leave(id, evenPastHalf: true) { _ in true }
            departure.answers += part.answers
            departure.abandoned += part.abandoned
        }
        return (departure, ids.count)
    }

    /// Ends a flight whose transfer has ended: its slot is free, its callers are answered in the order they came.
    ///
    /// - Parameters:
    ///   - id: The flight.
    ///   - failedTarget: The target that failed; nil when the transfer succeeded. Callers with another target of the
    ///     same source are not answered by its failure: they go on in a flight of their own.
    ///   - now: The time.
    mutating func land(_ id: FlightID, failing failedTarget: FetchedTarget? = nil, at now: Duration) -> Landing {
        guard let flight = flights.removeValue(forKey: id) else { return Landing() }
        if current[flight.key] == id { current[flight.key] = nil }
        if let slot = flight.slot { slots.giveBack(slot, at: now) }
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
        return Landing(answers: answered.map { ($0.answer, $0.participation) }, launches: launches)
    }

    /// A flight of their own for callers of one target, whose flight has failed for another; the next to start.
    private mutating func requeue(_ waiters: [Waiter<Answer>], of flight: Flight<Answer>) -> FlightID {
        lastID += 1
        var next = Flight<Answer>(
            id: lastID, key: flight.key, request: waiters.first?.request ?? flight.request, startedAt: flight.startedAt)
        next.waiters = waiters
        next.known = flight.known
        next.isOutdated = flight.isOutdated
        flights[next.id] = next
        if current[next.key] == nil, !next.isOutdated { current[next.key] = next.id }
        for waiter in waiters { waiterFlights[waiter.id] = next.id }
        return next.id
    }

    /// Changes the number of slots; a larger one starts queued flights at once.
    mutating func setMaximum(_ maximum: Int, at now: Duration) -> [Launch] {
        slots.maximum = maximum
        let launches = startQueued(at: now)
        activity.update(isWorking: slots.activeCount > 0, at: now)
        return launches
    }

    /// Refuses callers from now on and removes all waiting ones.
    mutating func shutDown() -> Departure {
        isShutDown = true
        var departure = Departure()
        for id in flights.keys.sorted() {
            let part = leave(id, evenPastHalf: true) { _ in true }
            departure.answers += part.answers
            departure.abandoned += part.abandoned
        }
        return departure
    }

    /// Whether a flight's transfer should go on, as far as is known; nil when it has ended.
    func isWanted(_ id: FlightID) -> Bool? { flights[id].map { !$0.isAbandoned } }

    /// Whether a caller of a flight wants the copies of its source kept if its origin sends no image.
    func isRefresh(_ id: FlightID) -> Bool { flights[id]?.waiters.contains { $0.request.isRefresh } ?? false }

    /// Whether a flight's source was removed from the caches after it had begun.
    func isOutdated(_ id: FlightID) -> Bool { flights[id]?.isOutdated ?? false }

    /// Closes the flights of a source, nil for all, to new callers, and keeps none of their results.
    mutating func outdate(_ identity: SourceIdentity?) {
        for (id, flight) in flights where !queue.contains(id) && identity ?? flight.key.identity == flight.key.identity
        {
            flights[id]?.isOutdated = true
            if current[flight.key] == id { current[flight.key] = nil }
        }
    }

    /// The flights under way and queued, in the order in which they were begun.
    func snapshots(at now: Duration) -> [FlightSnapshot] {
        flights.values.filter { !$0.isAbandoned }.sorted { $0.id < $1.id }.map { flight in
            FlightSnapshot(
                source: flight.request.identity.name, host: flight.request.identity.url.host,
                isRunning: flight.slot != nil, receivedBytes: flight.progress.receivedBytes,
                expectedBytes: flight.progress.expectedBytes, age: now - flight.startedAt,
                receipts: flight.waiters.map(\.receipt))
        }
    }

    private mutating func leave(
        _ id: FlightID, evenPastHalf: Bool = false, where isLeaving: (Waiter<Answer>) -> Bool
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
                // A later caller of this URL gets a flight of its own; the slot stays taken until the transfer has
                // ended.
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

    /// An ordinary caller is served by a reload too; a reload not by a flight whose answer may be older than the
    /// reload.
    private func flightToJoin(_ key: FlightKey) -> FlightID? {
        if let flight = current[key] { return flight }
        return key.mode == .ordinary ? current[FlightKey(identity: key.identity, mode: .reload)] : nil
    }

    private func launch(of flight: Flight<Answer>) -> Launch {
        Launch(flight: flight.id, request: flight.request, progress: flight.progress, known: flight.known)
    }
}
