/// Wakes sleeping tasks on time, from its own thread.
///
/// In the Swift runtime, a canceled sleep keeps its task and its entry until the deadline, so a flood of requests that
/// end early would use memory for `requestTimeout`. Here it leaves at most a number.
final class TimerQueue: Sendable {
    /// The queue of the process; nil if the system cannot create its thread.
    static let shared = TimerQueue(now: { SystemTimekeeper().now })

    private let state = ConditionGuarded(TimerQueueState())
    private let now: @Sendable () -> Duration

    init?(now: @escaping @Sendable () -> Duration) {
        self.now = now
        guard let thread = try? WorkThread(named: "timers", { [state] in Self.blockingRun(state, now) }) else {
            return nil
        }
        thread.detach()
    }

    var entryCount: Int { state.withLock { $0.entryCount } }

    /// - Throws: `CancellationError` if the task is canceled.
    func sleep(until deadline: Duration) async throws {
        let id = state.withLock { $0.register() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                switch state.withLock({ $0.add(continuation, id: id, until: deadline) }) {
                case .wait: break
                case .waitAsFirst: state.wakeOne()
                case .reject: continuation.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            state.withLock { $0.cancel(id) }?.resume(throwing: CancellationError())
        }
    }

    private static func blockingRun(_ state: ConditionGuarded<TimerQueueState>, _ now: @Sendable () -> Duration) {
        while true {
            let first = state.withLock { $0.first }
            let due = state.blockingWait(atMost: first.map { max(.zero, $0 - now()) } ?? .seconds(3_600)) { state in
                state.due(at: now(), unlessFirstIs: first)
            }
            for continuation in due ?? [] { continuation.resume() }
        }
    }
}

struct TimerQueueState {
    typealias Sleeper = CheckedContinuation<Void, any Error>

    enum Action {
        case wait
        /// The sleeper is the first to wake, so the caller must wake the timer thread.
        case waitAsFirst
        case reject
    }

    private var arriving: Set<UInt64> = []
    private var sleepers: [UInt64: Sleeper] = [:]
    /// A binary min-heap; entries of canceled sleepers stay until there are many.
    private var heap: [(deadline: Duration, id: UInt64)] = []
    private var lastID: UInt64 = 0

    var first: Duration? { heap.first?.deadline }

    var entryCount: Int { heap.count }

    /// Returns the ID of a sleeper, which may be canceled before it is added.
    mutating func register() -> UInt64 {
        lastID += 1
        arriving.insert(lastID)
        return lastID
    }

    mutating func add(_ sleeper: Sleeper, id: UInt64, until deadline: Duration) -> Action {
        guard arriving.remove(id) != nil else { return .reject }
        let isFirst = first.map { deadline < $0 } ?? true
        sleepers[id] = sleeper
        heap.append((deadline, id))
        rise(from: heap.count - 1)
        return isFirst ? .waitAsFirst : .wait
    }

    /// Removes a sleeper; returns nil if it was already woken, or not yet added and thus rejected later.
    mutating func cancel(_ id: UInt64) -> Sleeper? {
        if arriving.remove(id) != nil { return nil }
        let sleeper = sleepers.removeValue(forKey: id)
        if heap.count > 2 * sleepers.count + 1_024 {
            heap = heap.filter { sleepers[$0.id] != nil }.sorted { $0.deadline < $1.deadline }
        }
        return sleeper
    }

    /// Returns the sleepers to wake; nil if there are none and `expected` is still the earliest deadline.
    mutating func due(at now: Duration, unlessFirstIs expected: Duration?) -> [Sleeper]? {
        var due: [Sleeper] = []
        while let entry = heap.first, entry.deadline <= now || sleepers[entry.id] == nil {
            removeFirst()
            if let sleeper = sleepers.removeValue(forKey: entry.id) { due.append(sleeper) }
        }
        return due.isEmpty && first == expected ? nil : due
    }

    private mutating func rise(from index: Int) {
        var index = index
        while index > 0, heap[index].deadline < heap[(index - 1) / 2].deadline {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].deadline < heap[least].deadline { least = child }
            guard least != index else { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
