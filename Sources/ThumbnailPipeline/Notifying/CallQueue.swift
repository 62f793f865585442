import Coordination

/// A queue of outgoing calls with retries; the owner locks it and performs the returned actions.
struct CallQueue<Item> {
    static var places: Int { 4 }
    static var maximumWaiting: Int { 16_000 }
    static var maximumBytes: Int { 8 << 20 }
    /// Pauses between attempts; there is one attempt more than pauses.
    static var pauses: [Duration] { [.seconds(1), .seconds(5)] }

    enum Admission: Equatable {
        case dropped
        case waits
        case starts
    }

    enum Step: Equatable {
        case end(CallOutcome)
        case again(after: Duration)
    }

    private var waiting = Deque<(item: Item, bytes: Int)>()
    private var bytes = 0
    private(set) var active = 0
    private(set) var isStopping = false

    var waitingCount: Int { waiting.count }

    /// Adds a call of this size in bytes, unless the queue is full.
    mutating func add(_ item: Item, bytes size: Int) -> Admission {
        guard !isStopping, waiting.count < Self.maximumWaiting, bytes + size <= Self.maximumBytes else {
            return .dropped
        }
        waiting.append((item, size))
        bytes += size
        guard active < Self.places else { return .waits }
        active += 1
        return .starts
    }

    mutating func next() -> Item? {
        guard let (item, size) = waiting.popFirst() else {
            active -= 1
            return nil
        }
        bytes -= size
        return item
    }

    func step(after reply: CallReply, attempt: Int) -> Step {
        switch reply {
        case .status(200..<300): return .end(.sent)
        case .rejected: return .end(.failed)
        case .status, .none:
            guard attempt <= Self.pauses.count else { return .end(.failed) }
            return isStopping ? .end(.dropped) : .again(after: Self.pauses[attempt - 1])
        }
    }

    /// Ends retries, but still sends queued calls; returns whether no call is in progress.
    mutating func stop() -> Bool {
        isStopping = true
        return active == 0
    }

    mutating func takeRest() -> [Item] {
        defer {
            waiting = Deque()
            bytes = 0
        }
        return waiting.elements.map(\.item)
    }
}
