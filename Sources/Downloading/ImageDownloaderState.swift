/// The downloader's book-keeping: flights, their waiters, the queue and the slots, as a value without locks or tasks.
///
/// Every change returns what the shell has to do afterwards. `Answer` stands for a caller's continuation.
struct ImageDownloaderState<Answer> {
    /// Tells a flight from every other, earlier and later ones of the same URL included.
    typealias FlightID = UInt64
    /// Tells a caller from every other.
    typealias WaiterID = UInt64

    /// A transfer to start.
    struct Launch {
        let flight: FlightID
        let request: SourceRequest
        let progress: TransferProgress
    }

    /// What became of a caller that came in.
    enum Entrance {
        /// Answer it at once.
        case cached(Source, Answer)
        /// It waits; start these.
        case waiting(launches: [Launch], isJoined: Bool)
        /// Refuse it.
        case refused(any Error, Answer)
    }

    /// What became of callers that left.
    struct Departure {
        var answers: [Answer] = []
        var abandoned: [FlightID] = []
    }

    /// What becomes of a flight's callers when it has ended.
    struct Landing {
        var answers: [(answer: Answer, origin: Delivery.Origin)] = []
        var launches: [Launch] = []
    }

    private struct Waiter {
        let id: WaiterID
        let receipt: String
        /// When half of its time is over.
        let halfTime: Duration?
        let origin: Delivery.Origin
        let answer: Answer
    }

    private struct Flight {
        let id: FlightID
        let request: SourceRequest
        let progress = TransferProgress()
        let startedAt: Duration
        var waiters: [Waiter] = []
        /// Nil while queued.
        var slot: SlotToken?
        var isAbandoned = false
    }

    private let order: DownloadConfiguration.Order
    private let maximumQueued: Int
    private var slots: DownloadSlots
    private var activity = ActivityIndicator()
    private var lastID: UInt64 = 0
    private var arriving: Set<WaiterID> = []
    private var waiterFlights: [WaiterID: FlightID] = [:]
    private var flights: [FlightID: Flight] = [:]
    private var current: [SourceIdentity: FlightID] = [:]
    private var queue: [FlightID] = []
    private var isShutDown = false

    init(_ configuration: DownloadConfiguration) {
        order = configuration.order
        maximumQueued = configuration.maximumQueuedDownloads
        slots = DownloadSlots(
            maximum: configuration.maximumActiveDownloads, perHost: configuration.maximumActiveDownloadsPerHost)
    }

    /// Transfers that hold a slot.
    var activeCount: Int { slots.activeCount }

    /// Flights that wait for a slot.
    var queuedCount: Int { queue.count }

    /// Whether work shows at `now`.
    func isActive(at now: Duration) -> Bool { activity.isVisible(at: now) }

    /// Announces a caller, so that it can leave before it has begun to wait.
    mutating func announce() -> WaiterID {
        lastID += 1
        arriving.insert(lastID)
        return lastID
    }

    /// Lets a caller in, in five steps: join the flight; else ask the cache; else create, register, and start or enqueue one.
    mutating func enter(
        _ id: WaiterID, _ request: SourceRequest, receipt: String, deadline: Duration?, at now: Duration,
        answer: Answer, cached: (SourceIdentity) -> Source?
    ) -> Entrance {
        guard arriving.remove(id) != nil else { return .refused(CancellationError(), answer) }
        guard !isShutDown else { return .refused(DownloadError.shuttingDown, answer) }
        let identity = request.identity
        let halfTime = deadline.map { now + ($0 - now) / 2 }
        func waiter(_ origin: Delivery.Origin) -> Waiter {
            Waiter(id: id, receipt: receipt, halfTime: halfTime, origin: origin, answer: answer)
        }

        if let flight = current[identity] {
            flights[flight]?.waiters.append(waiter(.joined))
            waiterFlights[id] = flight
            return .waiting(launches: [], isJoined: true)
        }

        if let source = cached(identity) { return .cached(source, answer) }

        lastID += 1
        var flight = Flight(id: lastID, request: request, startedAt: now)
        flight.waiters = [waiter(.started)]

        let slot = slots.take(for: identity.url.hostAndPort)
        guard slot != nil || queue.count < maximumQueued else { return .refused(DownloadError.queueFull, answer) }
        flight.slot = slot
        flights[flight.id] = flight
        current[identity] = flight.id
        waiterFlights[id] = flight.id

        guard slot != nil else {
            queue.append(flight.id)
            return .waiting(launches: [], isJoined: false)
        }
        activity.update(isWorking: true, at: now)
        return .waiting(launches: [launch(of: flight)], isJoined: false)
    }

    /// Lets one caller go.
    mutating func leave(_ id: WaiterID) -> Departure {
        if arriving.remove(id) != nil { return Departure() }
        guard let flight = waiterFlights[id] else { return Departure() }
        return leave(flight) { $0.id == id }
    }

    /// Lets those go who wait under `receipt`.
    mutating func leave(receipt: String) -> Departure {
        var departure = Departure()
        for flight in flights.values.filter({ $0.waiters.contains { $0.receipt == receipt } }).map(\.id).sorted() {
            let part = leave(flight) { $0.receipt == receipt }
            departure.answers += part.answers
            departure.abandoned += part.abandoned
        }
        return departure
    }

    /// Ends a flight whose transfer has ended: its slot is free, its callers are answered in the order they came.
    mutating func land(_ id: FlightID, at now: Duration) -> Landing {
        guard let flight = flights.removeValue(forKey: id) else { return Landing() }
        if current[flight.request.identity] == id { current[flight.request.identity] = nil }
        for waiter in flight.waiters { waiterFlights[waiter.id] = nil }
        if let slot = flight.slot { slots.giveBack(slot) }
        let launches = startQueued(at: now)
        activity.update(isWorking: slots.activeCount > 0, at: now)
        return Landing(answers: flight.waiters.map { ($0.answer, $0.origin) }, launches: launches)
    }

    /// Changes the number of slots; a larger one starts queued flights at once.
    mutating func setMaximum(_ maximum: Int, at now: Duration) -> [Launch] {
        slots.maximum = maximum
        let launches = startQueued(at: now)
        activity.update(isWorking: slots.activeCount > 0, at: now)
        return launches
    }

    /// Refuses callers from now on and lets all go who wait.
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

    /// Whether a flight's transfer should go on, as far as is known; nil when it has landed.
    func isWanted(_ id: FlightID) -> Bool? { flights[id].map { !$0.isAbandoned } }

    /// The flights under way and queued, in the order in which they were begun.
    func snapshots(at now: Duration) -> [FlightSnapshot] {
        flights.values.filter { !$0.isAbandoned }.sorted { $0.id < $1.id }.map { flight in
            FlightSnapshot(
                url: flight.request.identity.url.canonical, host: flight.request.identity.url.host,
                isRunning: flight.slot != nil, receivedBytes: flight.progress.receivedBytes,
                expectedBytes: flight.progress.expectedBytes, age: now - flight.startedAt,
                receipts: flight.waiters.map(\.receipt))
        }
    }

    private mutating func leave(
        _ id: FlightID, evenPastHalf: Bool = false, where isLeaving: (Waiter) -> Bool
    ) -> Departure {
        guard var flight = flights[id], !flight.isAbandoned else { return Departure() }
        let leaving = flight.waiters.filter(isLeaving)
        flight.waiters.removeAll(where: isLeaving)
        for waiter in leaving { waiterFlights[waiter.id] = nil }
        var departure = Departure(answers: leaving.map(\.answer))
        if flight.waiters.isEmpty {
            if flight.slot == nil {
                queue.removeAll { $0 == id }
                current[flight.request.identity] = nil
                flights[id] = nil
                return departure
            }
            if evenPastHalf || !flight.progress.isPastHalf {
                // A later caller of this URL gets a flight of its own; the slot stays taken until the transfer has ended.
                flight.isAbandoned = true
                current[flight.request.identity] = nil
                departure.abandoned = [id]
            }
        }
        flights[id] = flight
        return departure
    }

    private mutating func startQueued(at now: Duration) -> [Launch] {
        var launches: [Launch] = []
        while slots.hasRoom, let index = nextQueued(at: now) {
            let id = queue.remove(at: index)
            guard let host = flights[id]?.request.identity.url.hostAndPort else { continue }
            flights[id]?.slot = slots.take(for: host)
            if let flight = flights[id] { launches.append(launch(of: flight)) }
        }
        return launches
    }

    /// The place in the queue of the flight that starts next; those of a host without a free slot are passed over.
    private func nextQueued(at now: Duration) -> Int? {
        func canStart(_ id: FlightID) -> Bool {
            flights[id].map { slots.hasRoom(for: $0.request.identity.url.hostAndPort) } ?? true
        }
        switch order {
        case .fifo: return queue.firstIndex(where: canStart)
        case .lifo:
            let overdue = queue.firstIndex { id in
                flights[id]?.waiters.contains { $0.halfTime.map { $0 <= now } ?? false } == true && canStart(id)
            }
            return overdue ?? queue.lastIndex(where: canStart)
        }
    }

    private func launch(of flight: Flight) -> Launch {
        Launch(flight: flight.id, request: flight.request, progress: flight.progress)
    }
}
