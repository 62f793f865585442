import Coordination

/// A queue of outgoing calls with retries; the owner locks it and performs the returned actions.
struct CallQueue<Item> {
    private var waiting = Deque<(item: Item, bytes: Int)>()
    private var bytes = 0
    private(set) var activeCount = 0
    private(set) var isShutDown = false

    static var maximumActive: Int { 4 }
    static var maximumWaiting: Int { 16_000 }
    static var maximumBytes: Int { 8 << 20 }
    /// Pauses between attempts; there is one attempt more than pauses.
    static var pauses: [Duration] { [.seconds(1), .seconds(5)] }

    enum Admission: Equatable {
        case dropped
        case queued
        case started
    }

    enum NextStep: Equatable {
        case finish(CallOutcome)
        case retry(after: Duration)
    }

    var waitingCount: Int { waiting.count }

    /// Adds a call of this size in bytes, unless the queue is full.
    mutating func add(_ item: Item, bytes size: Int) -> Admission {
        guard !isShutDown, waiting.count < Self.maximumWaiting, bytes + size <= Self.maximumBytes else {
            return .dropped
        }
        waiting.append((item, size))
        bytes += size
        guard activeCount < Self.maximumActive else { return .queued }
        activeCount += 1
        return .started
    }

    mutating func next() -> Item? {
        guard let (item, size) = waiting.popFirst() else {
            activeCount -= 1
            return nil
        }
        bytes -= size
        return item
    }

    func nextStep(after reply: CallReply, attempt: Int) -> NextStep {
        switch reply {
        case .status(200..<300): return .finish(.sent)
        case .rejected: return .finish(.failed)
        case .status, .none:
            guard attempt <= Self.pauses.count else { return .finish(.failed) }
            return isShutDown ? .finish(.dropped) : .retry(after: Self.pauses[attempt - 1])
        }
    }

    /// Ends retries, but still sends queued calls; returns whether no call is in progress.
    mutating func shutDown() -> Bool {
        isShutDown = true
        return activeCount == 0
    }

    mutating func takeWaiting() -> [Item] {
        defer {
            waiting = Deque()
            bytes = 0
        }
        return waiting.elements.map(\.item)
    }
}
