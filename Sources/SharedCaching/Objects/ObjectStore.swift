package import Coordination
package import Memory
package import Telemetry

/// Stores values in a folder or a bucket, where they stay until they are purged.
///
/// The generation of everything is an object, and so is the generation of each source that was ever purged; other
/// sources have the first generation. So nothing is written before a source is fetched. Removals that the place does
/// not confirm are retried until it does; until then, this instance reads no values of their sources.
package final class ObjectStore: SharedValueStore {
    struct State {
        var health: TierHealth
        var writing = WriteHealth()
        var statistics = SharedStoreStatistics()
        /// The generation of everything, and the time of the last query for it.
        var everything: (generation: Generation, askedAt: Duration)?
        /// The number of completed removals of everything.
        var removals = 0
        var due = DueRemovals()
        var reads = 0
        var writes = Deque<ObjectWrite>()
        var writers = 0
        var isRecovering = false
        var failedListings = 0
        /// Whether an outage of the place was logged.
        var isReported = false
        var isStopped = false
        /// Completed when there are no writes.
        var whenIdle: [OneTimeResult<Bool>] = []

        mutating func showState() { statistics.show(health.state, isFull: writing.isFull) }
    }

    /// The maximum number of concurrent lookups; more are not tried.
    package static let maximumReads = 64
    package static let maximumWriters = 4

    let place: any ObjectPlace
    private let tags: TagWriter
    private let configuration: ObjectStoreConfiguration
    let seal: SharedSeal
    private let logger: Logger
    let timekeeper: any Timekeeper
    let state: Locked<State>
    private let isTried = ConditionGuarded(false)

    /// Creates a store that does nothing before ``start()``.
    package init(
        _ place: any ObjectPlace, _ configuration: ObjectStoreConfiguration, logger: Logger, timekeeper: any Timekeeper
    ) {
        self.place = place
        tags = TagWriter(place, seal: SharedSeal(key: configuration.key), timekeeper: timekeeper)
        self.configuration = configuration
        self.logger = logger
        self.timekeeper = timekeeper
        seal = SharedSeal(key: configuration.key)
        var state = State(health: TierHealth(interval: configuration.interval))
        state.showState()
        self.state = Locked(state)
    }

    /// Tries the place, and retries until it responds.
    package func start() { recover() }

    /// Blocks the thread until the place was tried once, at most for the timeout of a lookup: sources fetched earlier
    /// have no generation, so that nothing derived from them is stored.
    package func blockUntilTried() { _ = isTried.blockingWait(atMost: configuration.timeout) { $0 ? true : nil } }

    /// Waits for queued writes too.
    package func stop(timeLimit: Duration) async {
        let answer = OneTimeResult<Bool>()
        let isIdle = state.withLock { state in
            state.isStopped = true
            if state.writers > 0 { state.whenIdle.append(answer) }
            return state.writers == 0
        }
        if !isIdle { _ = await answer.value(within: timeLimit, by: timekeeper, or: false) }
        await tags.stop(timeLimit: timeLimit)
        let isDelivered = OneTimeResult<Bool>()
        Task.detached { [self] in
            await deliver()
            isDelivered.give(true)
        }
        _ = await isDelivered.value(within: timeLimit, by: timekeeper, or: false)
        let lost = state.withLock { state in
            // Writes still waiting are dropped.
            for write in state.writes.elements { state.statistics.queueBytes -= write.length }
            state.statistics.droppedWrites += state.writes.count
            state.writes = Deque()
            return state.due.entries.count
        }
        if lost > 0 { logger.warning("removals not confirmed by the result store", ["count": .int(lost)]) }
    }

    package var statistics: SharedStoreStatistics {
        var statistics = state.withLock { $0.statistics }
        tags.add(to: &statistics)
        return statistics
    }

    package var isReadOnly: Bool { configuration.isReadOnly }

    package var isUp: Bool { state.withLock { $0.health.state == .up && !$0.isStopped } }

    /// Returns false: there is no log of purges, only generations.
    package func learnPurges() async -> Bool { false }

    // MARK: Lookups

    package func ask(
        for key: SharedKey, of sources: [SharedSource], isBeginning: Bool = false, allowance: WaitBudget,
        _ finish: @escaping @Sendable (SharedReply) -> Void
    ) -> Bool {
        let limit = allowance.remaining(of: configuration.timeout)
        guard limit > .zero, admitRead(of: sources) else { return false }
        let begun = timekeeper.now
        Task.detached { [self] in
            let answer = OneTimeResult<TierRead.Answer>()
            let reading = Task.detached { [self] in
                let values = try? await values(under: key, of: sources)
                answer.give(values.map { .values($0) } ?? .failed)
            }
            let result = await answer.value(within: limit, by: timekeeper, or: .timeout)
            reading.cancel()
            endRead(result)
            allowance.spend(timekeeper.now - begun)
            finish(SharedReply(answer: result, key: key, sourceCount: sources.count))
        }
        return true
    }

    package func checked(_ reply: SharedReply) -> SharedLookUp {
        let lookUp = reply.judged(by: seal)
        if let result = lookUp.result { state.withLock { $0.statistics.requests[result, default: 0] += 1 } }
        return lookUp
    }

    /// Returns the generation of everything, the generations of the sources, and the value.
    private func values(under key: SharedKey, of sources: [SharedSource]) async throws -> [SharedBytes?] {
        async let everything = currentGeneration()
        async let value = place.object(
            named: ObjectNames.value(key), atMost: configuration.maximumValueBytes)
        let generations = try await withThrowingTaskGroup(of: (Int, SharedBytes).self) { [place] group in
            for (index, source) in sources.enumerated() {
                group.addTask {
                    let found = try await place.object(
                        named: ObjectNames.generation(source.label), atMost: TagWriter.maximumGenerationBytes)
                    return (index, found ?? SharedBytes(Generation.first.text))
                }
            }
            return try await group.reduce(into: [Int: SharedBytes]()) { $0[$1.0] = $1.1 }
        }
        return [try await everything] + sources.indices.map { generations[$0] } + [try await value]
    }

    /// Returns the generation of everything, queried at most once per interval; nil if there is none.
    private func currentGeneration() async throws -> SharedBytes? {
        let now = timekeeper.now
        let known = state.withLock { state -> Generation? in
            guard let known = state.everything, now < known.askedAt + configuration.interval else {
                // Meanwhile others use the known one.
                state.everything?.askedAt = now
                return nil
            }
            return known.generation
        }
        let generation = if let known { known } else { try await askedGeneration() }
        return generation.map { SharedBytes($0.text) }
    }

    /// Queries the generation of everything; if there is none, because the place is empty, creates one.
    private func askedGeneration() async throws -> Generation? {
        let now = timekeeper.now
        let removals = state.withLock { $0.removals }
        let found = try await place.object(named: ObjectNames.everything, atMost: TagWriter.maximumGenerationBytes)
        var generation = found.flatMap { Generation($0.array) }
        if generation == nil, !configuration.isReadOnly {
            let new = Generation()
            try await place.keep(SharedBytes(new.text), named: ObjectNames.everything, isLasting: true)
            generation = new
        }
        return state.withLock { state in
            // A generation that was read before a removal is not the one after it.
            if state.removals == removals { state.everything = generation.map { ($0, now) } }
            return state.everything?.generation
        }
    }

    private func admitRead(of sources: [SharedSource]) -> Bool {
        state.withLock { state in
            guard state.health.state == .up, !state.isStopped, state.reads < Self.maximumReads,
                !state.due.concerns(sources)
            else { return false }
            state.reads += 1
            return true
        }
    }

    private func endRead(_ answer: TierRead.Answer) {
        let isSuspended = state.withLock { state in
            state.reads -= 1
            if case .values = answer {
                state.health.succeeded()
                return false
            }
            defer { state.showState() }
            return state.health.failed(at: timekeeper.now)
        }
        guard isSuspended else { return }
        logger.warning("result store too slow or failing")
        recover()
    }

    // MARK: Writes

    @discardableResult
    package func store(
        _ value: CacheValue, for key: SharedKey, of sources: [SharedSource], under generations: [SharedGenerations],
        seconds: Int
    ) -> Bool {
        let length = value.length(generations: generations.count + 1)
        guard !configuration.isReadOnly, generations.count == sources.count, let first = generations.first,
            generations.allSatisfy({ $0.everything == first.everything }), length <= configuration.maximumValueBytes
        else { return false }
        return add(
            ObjectWrite(
                value: value, key: key, generations: [first.everything] + generations.map(\.source), length: length))
    }

    package func begin(_ tag: SharedTag, of source: NamedSource) -> TagBeginning? {
        configuration.isReadOnly || !isUp ? nil : tags.begin(tag, of: source)
    }

    package func note(_ tag: SharedTag, of source: NamedSource, since beginning: TagBeginning?) {
        guard !configuration.isReadOnly, isUp else { return }
        tags.write(TagNotes.Note(source: source, tag: tag, beginning: beginning)) { [self] in forget([$0]) }
    }

    private func add(_ write: ObjectWrite) -> Bool {
        let (isAdmitted, needsWriter) = state.withLock { state in
            guard state.health.state == .up, !state.isStopped,
                state.statistics.queueBytes + write.length <= configuration.maximumQueueBytes,
                state.writing.mayWrite(at: timekeeper.now)
            else {
                state.statistics.droppedWrites += 1
                return (false, false)
            }
            state.statistics.queueBytes += write.length
            state.writes.append(write)
            guard state.writers < Self.maximumWriters else { return (true, false) }
            state.writers += 1
            return (true, true)
        }
        if needsWriter { Task.detached { [self] in await writeWaiting() } }
        return isAdmitted
    }

    private func writeWaiting() async {
        while let write = nextWrite() {
            let bytes = write.value.written(under: write.key, generations: write.generations, seal)
            do {
                try await place.keep(bytes, named: ObjectNames.value(write.key), isLasting: false)
                end(write)
            } catch {
                end(write, error)
            }
        }
    }

    private func end(_ write: ObjectWrite, _ failure: (any Error)? = nil) {
        let news = state.withLock { state in
            state.statistics.queueBytes -= write.length
            if failure == nil { state.statistics.writes += 1 } else { state.statistics.droppedWrites += 1 }
            defer { state.showState() }
            let lacksRoom = failure.map { ($0 as? any ObjectPlaceFailure)?.isForLackOfRoom ?? false }
            return state.writing.ended(lacksRoom: lacksRoom, at: timekeeper.now)
        }
        news?.tell(logger, isStore: true, failure.map { "\($0)" })
    }

    private func nextWrite() -> ObjectWrite? {
        let (write, idle) = state.withLock { state -> (ObjectWrite?, [OneTimeResult<Bool>]) in
            if let write = state.writes.popFirst() { return (write, []) }
            state.writers -= 1
            guard state.writers == 0 else { return (nil, []) }
            defer { state.whenIdle = [] }
            return (nil, state.whenIdle)
        }
        for answer in idle { answer.give(true) }
        return write
    }

    // MARK: Health

    /// Retries the place at intervals until it is in use and no removals are pending.
    func recover() {
        let isFirst = state.withLock { state in
            defer { state.isRecovering = true }
            return !state.isRecovering && !state.isStopped
        }
        guard isFirst else { return }
        Task.detached { [self] in
            while await !isRecovered() {
                try? await timekeeper.sleep(until: timekeeper.now + configuration.interval)
            }
        }
    }

    private func isRecovered() async -> Bool {
        if state.withLock({ $0.health.takeTry(at: timekeeper.now) }) { await probe() }
        await deliver()
        return state.withLock { state in
            let isDone = state.isStopped || state.health.state == .up && state.due.isEmpty
            if isDone { state.isRecovering = false }
            return isDone
        }
    }

    private func probe() async {
        let begun = timekeeper.now
        let failure: (any Error)?
        do {
            // A place that rejects writes can still be read.
            if !configuration.isReadOnly { try? await place.prepare() }
            _ = try await askedGeneration()
            failure = nil
        } catch {
            failure = error
        }
        defer {
            isTried.withLock { $0 = true }
            isTried.wakeAll()
        }
        let now = timekeeper.now
        let (isNews, health) = state.withLock { state in
            let isChanged =
                failure == nil
                ? state.health.answered(isQuick: now - begun <= configuration.timeout) : state.health.lost(at: now)
            state.showState()
            defer { state.isReported = failure != nil }
            return (isChanged || failure != nil && !state.isReported, state.health.state)
        }
        guard isNews else { return }
        switch health {
        case .up: logger.info("result store in use")
        case .suspended: logger.warning("result store too slow or failing")
        case .down: logger.warning("result store out of reach", ["detail": .string("\(failure.map { "\($0)" } ?? "")")])
        }
    }
}

struct ObjectWrite {
    let value: CacheValue
    let key: SharedKey
    let generations: [Generation]
    let length: Int
}
