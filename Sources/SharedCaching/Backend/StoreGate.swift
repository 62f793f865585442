import Coordination
import Telemetry

/// The circuit breaker of a shared store: admits and counts reads and writes while the store is healthy and its queues
/// are not full.
///
/// Used on all threads.
final class StoreGate: Sendable {
    private struct State {
        var health: StoreHealth
        var writes = WriteHealth()
        var statistics = SharedStoreStatistics()
        var reads = 0
        var isOutageLogged = false
        var isShutDown = false
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
    private let isFirstProbeDone = ConditionGuarded(false)

    /// Limits tag records that wait to be written, to about 7,000 sources.
    ///
    /// They have their own queue, so that they do not displace values.
    static let maximumTagBytes = 4 << 20

    init(
        _ configuration: SharedStoreConfiguration, maximumReads: Int, messages: StoreMessages, logger: Logger,
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
            statistics.isFull = state.writes.isFull
            statistics.state =
                state.health.state == .up && state.writes.isFull
                ? SharedStoreStatistics.full : state.health.state.rawValue
            return statistics
        }
    }

    var isUp: Bool { state.withLock { $0.health.state == .up && !$0.isShutDown } }

    var isShutDown: Bool { state.withLock { $0.isShutDown } }

    func shutDown() { state.withLock { $0.isShutDown = true } }

    /// Admits a read, which ``endRead(with:)`` ends.
    func admitRead() -> Bool {
        state.withLock { state in
            guard state.health.state == .up, !state.isShutDown, state.reads < maximumReads else { return false }
            state.reads += 1
            return true
        }
    }

    func endRead(with result: StoreReadResult) {
        let now = timekeeper.now
        let isSuspended = state.withLock { state in
            state.reads -= 1
            if case .values = result {
                state.health.recordSuccess()
                return false
            }
            return state.health.recordFailure(at: now)
        }
        guard isSuspended else { return }
        if case .failed(let detail) = result { log(.suspended, detail: detail) } else { log(.suspended, detail: nil) }
    }

    func count(_ result: SharedStoreStatistics.Result) {
        state.withLock { $0.statistics.requests[result, default: 0] += 1 }
    }

    /// Admits a write, which ``endWrite(of:in:with:)`` ends, or counts it as dropped.
    func admitWrite(of length: Int, in queue: SharedStoreStatistics.Queue) -> Bool {
        let now = timekeeper.now
        return state.withLock { state in
            guard state.health.state == .up, !state.isShutDown,
                state.statistics[queue].bytes + length <= maximumQueueBytes[queue, default: 0],
                state.writes.mayWrite(at: now)
            else {
                state.statistics[queue].dropped += 1
                return false
            }
            state.statistics[queue].bytes += length
            return true
        }
    }

    /// Counts a dropped write if the server is full.
    func countDropIfFull() {
        state.withLock { state in
            if state.writes.isFull { state.statistics.values.dropped += 1 }
        }
    }

    func endWrite(of length: Int, in queue: SharedStoreStatistics.Queue, with outcome: WriteOutcome) {
        let now = timekeeper.now
        let change = state.withLock { state -> WriteHealth.Change? in
            state.statistics[queue].bytes -= length
            switch outcome {
            case .written:
                state.statistics[queue].written += 1
                return state.writes.record(.written, at: now)
            case .dropped:
                state.statistics[queue].dropped += 1
                return nil
            case .failed(_, let isFull):
                state.statistics[queue].dropped += 1
                return state.writes.record(isFull ? .full : .rejected, at: now)
            }
        }
        let detail: Logger.Metadata = if case .failed(let text, _) = outcome { ["detail": .string(text)] } else { [:] }
        switch change {
        case .full?: logger.warning(messages.full, detail)
        case .rejected?: logger.warning(messages.rejectingWrites, detail)
        case .recovered?: logger.info(messages.writingAgain)
        case nil: break
        }
    }

    var health: StoreHealth { state.withLock { $0.health } }

    /// Returns whether to probe the store now.
    func admitProbe() -> Bool {
        let now = timekeeper.now
        return state.withLock { $0.health.admitProbe(at: now) }
    }

    /// Ends a probe; `isQuick` decides whether the store is used.
    func recordProbe(isQuick: Bool) {
        change { $0.recordProbe(isQuick: isQuick) }
        finishFirstProbe()
    }

    /// Records a lost connection; returns whether the state has changed.
    func recordLoss(_ detail: String? = nil) -> Bool {
        let now = timekeeper.now
        return change(detail: detail) { $0.recordLoss(at: now) }
    }

    func reportOutage(_ detail: String? = nil) {
        if state.withLock({ $0.health.state == .down && !$0.isOutageLogged }) { log(.down, detail: detail) }
        finishFirstProbe()
    }

    /// Waits for the first connection, at most for the timeout of a lookup.
    ///
    /// Sources fetched before it have no generation, so their results would not be stored.
    func waitForFirstProbe() { _ = isFirstProbeDone.blockingWait(atMost: timeout) { $0 ? true : nil } }

    private func finishFirstProbe() {
        isFirstProbeDone.withLock { $0 = true }
        isFirstProbeDone.wakeAll()
    }

    @discardableResult
    private func change(detail: String? = nil, _ body: (inout StoreHealth) -> Bool) -> Bool {
        let changed = state.withLock { body(&$0.health) ? $0.health.state : nil }
        if let changed { log(changed, detail: detail) }
        return changed != nil
    }

    private func log(_ health: StoreHealth.State, detail: String?) {
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
