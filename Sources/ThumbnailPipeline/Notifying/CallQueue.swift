import Coordination

/// Calls that wait to be sent, and the rule by which each is tried: a plain value; the caller keeps it under its lock
/// and performs what it returns.
struct CallQueue<Item> {
    /// How many calls of one queue are under way at a time.
    static var places: Int { 4 }
    /// Most calls that wait.
    static var mostWaiting: Int { 16_000 }
    /// Most bytes of the calls that wait.
    static var mostBytes: Int { 8 << 20 }
    /// The pauses after the first tries: with the last try there is one more of these than pauses.
    static var pauses: [Duration] { [.seconds(1), .seconds(5)] }

    /// The decision about a new call.
    enum Admission: Equatable {
        /// It is not taken.
        case dropped
        /// It waits for those that are under way.
        case waits
        /// It waits, and another runner is to begin.
        case starts
    }

    /// The step after a try.
    enum Step: Equatable {
        case end(CallOutcome)
        case again(after: Duration)
    }

    private var waiting = Deque<(item: Item, bytes: Int)>()
    private var bytes = 0
    /// Runners that have a place.
    private(set) var active = 0
    private(set) var isStopping = false

    /// Calls that wait for a place.
    var waitingCount: Int { waiting.count }

    /// Takes a call that takes so many bytes, unless there is no room.
    mutating func add(_ item: Item, bytes size: Int) -> Admission {
        guard !isStopping, waiting.count < Self.mostWaiting, bytes + size <= Self.mostBytes else { return .dropped }
        waiting.append((item, size))
        bytes += size
        guard active < Self.places else { return .waits }
        active += 1
        return .starts
    }

    /// The next call of a runner; nil if there is none, and then the runner's place is given back.
    mutating func next() -> Item? {
        guard let (item, size) = waiting.popFirst() else {
            active -= 1
            return nil
        }
        bytes -= size
        return item
    }

    /// The step after a try with this number, the first being 1.
    func step(after reply: CallReply, attempt: Int) -> Step {
        switch reply {
        case .status(200..<300): return .end(.sent)
        case .refused: return .end(.failed)
        case .status, .none:
            guard attempt <= Self.pauses.count else { return .end(.failed) }
            return isStopping ? .end(.dropped) : .again(after: Self.pauses[attempt - 1])
        }
    }

    /// Takes no further calls, and tries none again; those that wait are sent while there is time.
    ///
    /// - Returns: Whether nothing is under way.
    mutating func stop() -> Bool {
        isStopping = true
        return active == 0
    }

    /// Takes out what still waits.
    mutating func takeRest() -> [Item] {
        defer { (waiting, bytes) = (Deque(), 0) }
        return waiting.elements.map(\.item)
    }
}
