import Coordination

/// The queue of one reader: events, the newest figures, and how many events were dropped.
///
/// A plain state machine; the reader keeps it under a lock and performs the returned actions outside of it. `Waiter`
/// stands for the reader's continuation.
struct EventQueue<Waiter> {
    /// Most events that wait.
    static var mostWaiting: Int { 1_000 }
    /// Bytes of one batch, beyond which no further event is added to it.
    static var batchSize: Int { 64 << 10 }
    /// A reader that has had nothing for so long gets a sign of life, so that nothing on the way closes its connection.
    static var longestSilence: Duration { .seconds(15) }

    /// The next items for a reader, in this order.
    struct Batch {
        /// How many events were dropped before the others.
        var lost = 0
        var events: [EventText] = []
        var figures: EventText?
    }

    private var waiting = Deque<EventText>()
    private var lost = 0
    private var figures: EventText?
    private var lastOffer: Duration
    private var needsSign = false
    private var waiter: Waiter?
    private(set) var isClosed = false

    /// The queue of a reader that begins at `now` with a backlog, before which it has missed `lost` events.
    init(_ backlog: [EventText] = [], lost: Int = 0, at now: Duration) {
        lastOffer = now
        self.lost = lost
        for event in backlog { append(event) }
    }

    /// Whether there is something to send.
    private var isReady: Bool { !waiting.isEmpty || lost > 0 || figures != nil || needsSign }

    /// Adds what has happened, the oldest events giving way if there are too many; returns the reader to wake.
    ///
    /// - Parameters:
    ///   - events: The events since the last offer that the reader wants.
    ///   - missed: Events that were gone before they could be offered.
    ///   - figures: The newest figures, if the reader wants them.
    ///   - now: The time.
    mutating func offer(_ events: [EventText], missed: Int = 0, figures: EventText? = nil, at now: Duration) -> Waiter?
    {
        guard !isClosed else { return nil }
        lost += missed
        for event in events { append(event) }
        self.figures = figures ?? self.figures
        if isReady {
            lastOffer = now
        } else if now - lastOffer >= Self.longestSilence {
            needsSign = true
            lastOffer = now
        }
        return isReady ? takeWaiter() : nil
    }

    /// Begins to wait; returns the waiter again if it is to go on at once.
    mutating func wait(_ waiter: Waiter) -> Waiter? {
        if isReady || isClosed { return waiter }
        self.waiter = waiter
        return nil
    }

    /// The next batch, which is empty for a sign of life; nil if the reader has left.
    mutating func take() -> Batch? {
        guard !isClosed else { return nil }
        var batch = Batch(lost: lost)
        var size = 0
        while size < Self.batchSize, let event = waiting.popFirst() {
            batch.events.append(event)
            size += event.roughSize
        }
        batch.figures = figures
        figures = nil
        lost = 0
        needsSign = false
        return batch
    }

    /// Ends the queue; returns the reader to wake.
    mutating func close() -> Waiter? {
        isClosed = true
        waiting = Deque()
        return takeWaiter()
    }

    private mutating func append(_ event: EventText) {
        if waiting.count >= Self.mostWaiting, waiting.popFirst() != nil { lost += 1 }
        waiting.append(event)
    }

    private mutating func takeWaiter() -> Waiter? {
        defer { waiter = nil }
        return waiter
    }
}
