import Coordination

/// The queue of one reader: events, the newest statistics, and the number of dropped events.
///
/// A plain state machine: the reader guards it with a lock and performs the returned actions outside the lock. `Waiter`
/// is the reader's continuation.
struct EventQueue<Waiter> {
    private var waiting = Deque<EventText>()
    private var lost = 0
    private var statistics: EventText?
    private var lastOffer: Duration
    private var needsKeepAlive = false
    private var waiter: Waiter?
    private(set) var isClosed = false

    static var maximumWaiting: Int { 1_000 }
    /// In bytes; beyond it, no event is added.
    static var batchSize: Int { 64 << 10 }
    /// The time without events after which a keep-alive is sent, so that proxies do not close the connection.
    static var keepAliveInterval: Duration { .seconds(15) }

    struct Batch {
        var lost = 0
        var events: [EventText] = []
        var statistics: EventText?
    }

    /// - Parameter lost: The number of events that the reader has missed before the backlog.
    init(_ backlog: [EventText] = [], lost: Int = 0, at now: Duration) {
        lastOffer = now
        self.lost = lost
        for event in backlog { append(event) }
    }

    private var isReady: Bool { !waiting.isEmpty || lost > 0 || statistics != nil || needsKeepAlive }

    /// Drops the oldest events if there are too many; returns the reader to wake.
    ///
    /// - Parameters:
    ///   - missed: Events that left the log before they could be offered.
    ///   - statistics: If the reader wants them.
    mutating func offer(
        _ events: [EventText], missed: Int = 0, statistics: EventText? = nil, at now: Duration
    ) -> Waiter? {
        guard !isClosed else { return nil }
        lost += missed
        for event in events { append(event) }
        self.statistics = statistics ?? self.statistics
        if isReady {
            lastOffer = now
        } else if now - lastOffer >= Self.keepAliveInterval {
            needsKeepAlive = true
            lastOffer = now
        }
        return isReady ? takeWaiter() : nil
    }

    /// Returns the waiter if there is no need to wait.
    mutating func wait(_ waiter: Waiter) -> Waiter? {
        if isReady || isClosed { return waiter }
        self.waiter = waiter
        return nil
    }

    /// Returns the next events, an empty batch for a keep-alive, or nil if the reader has left.
    mutating func take() -> Batch? {
        guard !isClosed else { return nil }
        var batch = Batch(lost: lost)
        var size = 0
        while size < Self.batchSize, let event = waiting.popFirst() {
            batch.events.append(event)
            size += event.approximateSize
        }
        batch.statistics = statistics
        statistics = nil
        lost = 0
        needsKeepAlive = false
        return batch
    }

    mutating func close() -> Waiter? {
        isClosed = true
        waiting = Deque()
        return takeWaiter()
    }

    private mutating func append(_ event: EventText) {
        if waiting.count >= Self.maximumWaiting, waiting.popFirst() != nil { lost += 1 }
        waiting.append(event)
    }

    private mutating func takeWaiter() -> Waiter? {
        defer { waiter = nil }
        return waiter
    }
}
