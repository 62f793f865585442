import Coordination
import Telemetry

/// Admits and counts reads and writes of a shared store, while it is healthy and its queues are not full.
///
/// Used on all threads.
final class StoreGate: Sendable {
    private struct State {
        var health: StoreHealth
        var writing = WriteHealth()
        var statistics = SharedStoreStatistics()
        var reads = 0
        var isOutageLogged = false
        var isStopped = false
    }

    enum WriteOutcome {
        case written
        /// The write was not sent, or its outcome is unknown.
        case dropped
        case failed(String, isFull: Bool)
    }

    let messages: StoreMessages
    let logger: Logger
    let timekeeper: any Timekeeper
    private let maximumReads: Int
    private let maximumQueueBytes: [SharedStoreStatistics.Queue: Int]
    private let timeout: Duration
    private let state: Locked<State>
    private let isTried = ConditionGuarded(false)

    /// Limits tag records that wait to be written, to about 7,000 sources.
    ///
    /// They have their own queue, so that they do not displace values.
    static let maximumTagBytes = 4 << 20

    init(
        _ configuration: SharedStoreConfiguration, maximumReads: Int, _ messages: StoreMessages, logger: Logger,
        timekeeper: any Timekeeper
    ) {
        self.messages = messages
        self.logger = logger
        self.timekeeper = timekeeper
        self.maximumReads = maximumReads
        maximumQueueBytes = [.values: configuration.maximumQueueBytes, .tags: Self.maximumTagBytes]
        timeout = configuration.timeout
        state = Locked(State(health: StoreHealth(interval: configuration.interval)))
    }

    var statistics: SharedStoreStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.isFull = state.writing.isFull
            statistics.state =
                state.health.state == .up && state.writing.isFull
                ? SharedStoreStatistics.full : state.health.state.rawValue
            return statistics
        }
    }

    var isUp: Bool { state.withLock { $0.health.state == .up && !$0.isStopped } }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    func stop() { state.withLock { $0.isStopped = true } }

    /// Admits a read, which ``endRead(_:)`` ends.
    func admitRead() -> Bool {
        state.withLock { state in
            guard state.health.state == .up, !state.isStopped, state.reads < maximumReads else { return false }
            state.reads += 1
            return true
        }
    }

    func endRead(_ answer: StoreAnswer) {
        let now = timekeeper.now
        let isSuspended = state.withLock { state in
            state.reads -= 1
            if case .values = answer {
                state.health.succeeded()
                return false
            }
            return state.health.recordFailure(at: now)
        }
        guard isSuspended else { return }
        if case .failed(let detail) = answer { log(.suspended, detail) } else { log(.suspended, nil) }
    }

    func count(_ result: SharedStoreStatistics.Result) {
        state.withLock { $0.statistics.requests[result, default: 0] += 1 }
    }

    /// Admits a write, which ``end(_:in:_:)`` ends, or counts it as dropped.
    func admit(_ length: Int, in queue: SharedStoreStatistics.Queue) -> Bool {
        let now = timekeeper.now
        return state.withLock { state in
            guard state.health.state == .up, !state.isStopped,
                state.statistics[queue].bytes + length <= maximumQueueBytes[queue, default: 0],
                state.writing.mayWrite(at: now)
            else {
                state.statistics[queue].dropped += 1
                return false
            }
            state.statistics[queue].bytes += length
            return true
        }
    }

    /// Counts a dropped write if the server is full.
    func dropIfFull() {
        state.withLock { state in
            if state.writing.isFull { state.statistics.values.dropped += 1 }
        }
    }

    func end(_ length: Int, in queue: SharedStoreStatistics.Queue, _ outcome: WriteOutcome) {
        let now = timekeeper.now
        let change = state.withLock { state -> WriteHealth.Change? in
            state.statistics[queue].bytes -= length
            switch outcome {
            case .written:
                state.statistics[queue].written += 1
                return state.writing.recordEnd(lacksRoom: nil, at: now)
            case .dropped:
                state.statistics[queue].dropped += 1
                return nil
            case .failed(_, let isFull):
                state.statistics[queue].dropped += 1
                return state.writing.recordEnd(lacksRoom: isFull, at: now)
            }
        }
        let detail: Logger.Metadata = if case .failed(let text, _) = outcome { ["detail": .string(text)] } else { [:] }
        switch change {
        case .full?: logger.warning(messages.full, detail)
        case .rejected?: logger.warning(messages.rejectingWrites, detail)
        case .again?: logger.info(messages.writingAgain)
        case nil: break
        }
    }

    var health: StoreHealth { state.withLock { $0.health } }

    func takeTry() -> Bool {
        let now = timekeeper.now
        return state.withLock { $0.health.takeTry(at: now) }
    }

    /// Ends a probe; `isQuick` decides whether the store is used.
    func recordAnswer(isQuick: Bool) {
        change { $0.recordAnswer(isQuick: isQuick) }
        recordTry()
    }

    /// Records a lost connection; returns whether the state has changed.
    func recordLoss(_ detail: String? = nil) -> Bool {
        let now = timekeeper.now
        return change(detail) { $0.recordLoss(at: now) }
    }

    func reportOutage(_ detail: String? = nil) {
        if state.withLock({ $0.health.state == .down && !$0.isOutageLogged }) { log(.down, detail) }
        recordTry()
    }

    /// Waits for the first connection, at most for the timeout of a lookup.
    ///
    /// Sources fetched before it have no generation, so their results would not be stored.
    func waitForFirstAttempt() { _ = isTried.blockingWait(atMost: timeout) { $0 ? true : nil } }

    private func recordTry() {
        isTried.withLock { $0 = true }
        isTried.wakeAll()
    }

    @discardableResult
    private func change(_ detail: String? = nil, _ body: (inout StoreHealth) -> Bool) -> Bool {
        let changed = state.withLock { body(&$0.health) ? $0.health.state : nil }
        if let changed { log(changed, detail) }
        return changed != nil
    }

    private func log(_ health: StoreHealth.State, _ detail: String?) {
        state.withLock { $0.isOutageLogged = health == .down }
        let detail: Logger.Metadata = detail.map { ["detail": .string($0)] } ?? [:]
        switch health {
        case .up: logger.info(messages.inUse)
        case .suspended: logger.warning(messages.slow, detail)
        case .down: logger.warning(messages.outOfReach, detail)
        }
    }
}

struct StoreMessages {
    let inUse, slow, outOfReach, full, rejectingWrites, writingAgain, lostRemovals: StaticString

    static let sharedCache = StoreMessages(
        inUse: "shared cache in use", slow: "shared cache too slow or failing", outOfReach: "shared cache unreachable",
        full: "shared cache full; read-only", rejectingWrites: "shared cache rejects writes",
        writingAgain: "shared cache accepts writes again",
        lostRemovals: "purges lost: not confirmed by the shared cache")

    static let resultStore = StoreMessages(
        inUse: "result store in use", slow: "result store too slow or failing", outOfReach: "result store unreachable",
        full: "result store full; read-only", rejectingWrites: "result store rejects writes",
        writingAgain: "result store accepts writes again",
        lostRemovals: "purges lost: not confirmed by the result store")
}
