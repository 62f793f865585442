import Coordination
import Memory
import Telemetry

/// A store in a folder or bucket, where values stay until they are purged.
///
/// The generation of everything is an object, and so is the generation of each source that was ever purged. Other
/// sources have the first generation, so nothing needs to be written before a source is fetched. Removals are retried
/// until the container confirms them; until then, this instance does not read values of their sources.
final class ObjectBackend: StoreBackend {
    struct State {
        var everything: (generation: Generation, queriedAt: Duration)?
        var removals = 0
        var pending = PendingRemovals()
        var isRecovering = false
        var failedListings = 0
        var members = BoundedMap<TagMember, Bool>(maximumCount: 1 << 15)
        var tagReads = 0
    }

    struct TagMember: Hashable {
        let source: SharedSource
        let tag: SharedTag
    }

    /// Longer than a generation, so that invalid longer ones are detected.
    private static let maximumGenerationBytes = 64
    private static let maximumWriters = 4
    private static let maximumTagWriters = 2
    /// The number of concurrent queries; further ones follow when their writes begin.
    private static let maximumTagReads = 16
    /// Records are written again after this time, because operators may delete old ones.
    private static let memberLifetime = Duration.seconds(86_400)

    let container: any ObjectContainer
    let signer: SharedSigner
    let gate: StoreGate
    let state = Locked(State())
    private let configuration: SharedStoreConfiguration
    private let valueWrites: WriteTasks
    private let tagWrites: WriteTasks
    let deliveries = RunningTasks()
    let isServer = false

    var timekeeper: any Timekeeper { gate.timekeeper }

    init(
        _ container: any ObjectContainer, configuration: SharedStoreConfiguration, signer: SharedSigner, gate: StoreGate
    ) {
        self.container = container
        self.configuration = configuration
        self.signer = signer
        self.gate = gate
        valueWrites = WriteTasks(count: Self.maximumWriters, of: .values, gate: gate)
        tagWrites = WriteTasks(count: Self.maximumTagWriters, of: .tags, gate: gate)
    }

    func start(_ handlers: PurgeHandlers, position: [UInt8]?) { recover() }

    func shutDown(timeLimit: Duration) async {
        await valueWrites.shutDown(timeLimit: timeLimit)
        await tagWrites.shutDown(timeLimit: timeLimit)
        await deliveries.waitUntilIdle(within: timeLimit, by: timekeeper)
        startDelivery()
        await deliveries.waitUntilIdle(within: timeLimit, by: timekeeper)
        let lost = state.withLock { $0.pending.entries.count }
        if lost > 0 { gate.logger.warning(gate.messages.lostRemovals, ["count": .int(lost)]) }
    }

    func mayRead(_ sources: [SharedSource]) -> Bool { state.withLock { !$0.pending.affects(sources) } }

    func read(
        _ key: SharedKey, of sources: [SharedSource], createsGenerations: Bool, within limit: Duration,
        completion: @escaping @Sendable (StoreReadResult) -> Void
    ) {
        Task.detached { [self] in
            let promise = Promise<StoreReadResult>()
            let reading = Task.detached { [self] in
                let values = try? await values(under: key, of: sources)
                promise.fulfill(values.map { .values($0) } ?? .failed())
            }
            completion(await promise.value(within: limit, by: timekeeper, or: .timeout))
            reading.cancel()
            if !gate.isUp { recover() }
        }
    }

    /// Returns the generation of everything, the generations of the sources, and the value.
    private func values(under key: SharedKey, of sources: [SharedSource]) async throws -> [SharedBytes?] {
        async let everything = currentGeneration()
        async let value = container.object(named: ObjectNames.value(key), atMost: configuration.maximumValueBytes)
        let generations = try await withThrowingTaskGroup(of: (Int, SharedBytes).self) { group in
            for (index, source) in sources.enumerated() {
                group.addTask { [self] in
                    (index, try await generation(source.label) ?? SharedBytes(Generation.first.bytes))
                }
            }
            return try await group.reduce(into: [Int: SharedBytes]()) { $0[$1.0] = $1.1 }
        }
        return [try await everything] + sources.indices.map { generations[$0] } + [try await value]
    }

    /// Returns the generation of everything, queried at most once per interval; nil if there is none.
    private func currentGeneration() async throws -> SharedBytes? {
        let now = timekeeper.now
        let recent = state.withLock { state -> Generation? in
            guard let recent = state.everything, now < recent.queriedAt + configuration.interval else {
                // During the query, other callers use the known generation.
                state.everything?.queriedAt = now
                return nil
            }
            return recent.generation
        }
        let generation = if let recent { recent } else { try await queryGeneration() }
        return generation.map { SharedBytes($0.bytes) }
    }

    /// Reads the generation of everything; creates it in an empty container.
    private func queryGeneration() async throws -> Generation? {
        let now = timekeeper.now
        let removals = state.withLock { $0.removals }
        let object = try await container.object(named: ObjectNames.everything, atMost: Self.maximumGenerationBytes)
        var generation = object.flatMap { Generation($0.array) }
        if generation == nil, !configuration.isReadOnly {
            let new = Generation()
            try await container.store(SharedBytes(new.bytes), named: ObjectNames.everything, isDurable: true)
            generation = new
        }
        return state.withLock { state in
            // Ignore a generation that was read before a removal.
            if state.removals == removals { state.everything = generation.map { ($0, now) } }
            return state.everything?.generation
        }
    }

    /// Returns the generation of a source; nil for the first generation.
    private func generation(_ label: [UInt8]) async throws -> SharedBytes? {
        try await container.object(named: ObjectNames.generation(label), atMost: Self.maximumGenerationBytes)
    }

    func write(_ bytes: SharedBytes, for key: SharedKey, of sources: [SharedSource], seconds: Int) {
        valueWrites.add(bytes.count) { [container] in
            try await container.store(bytes, named: ObjectNames.value(key), isDurable: false)
        }
    }

    /// Returns nil if the source is known to be recorded under the tag.
    func checkpoint(of tag: SharedTag, for source: NamedSource) -> TagCheckpoint? {
        let now = timekeeper.now
        let member = TagMember(source: source.source, tag: tag)
        let isNeeded = state.withLock { state in
            guard state.tagReads < Self.maximumTagReads, state.members.peek(member, at: now) == nil else {
                return false
            }
            state.tagReads += 1
            return true
        }
        guard isNeeded else { return nil }
        return TagCheckpoint(
            generation: Task.detached { [self] in
                defer { state.withLock { $0.tagReads -= 1 } }
                return try await generation(tag.label)
            })
    }

    func record(_ tag: SharedTag, of source: NamedSource, since checkpoint: TagCheckpoint?) {
        let now = timekeeper.now
        let member = TagMember(source: source.source, tag: tag)
        guard state.withLock({ $0.members.peek(member, at: now) == nil }),
            gate.admitWrite(of: source.queuedLength, in: .tags)
        else { return }
        _ = state.withLock { $0.members.insert(true, for: member, until: now + Self.memberLifetime) }
        tagWrites.add(source.queuedLength) { [self] in
            do {
                try await writeMember(source, under: tag, since: checkpoint)
            } catch {
                _ = state.withLock { $0.members.remove(member) }
                throw error
            }
        }
    }

    /// Records the source under the tag, and invalidates the source if the tag was purged in the meantime.
    ///
    /// A purge replaces the tag's generation before it lists the sources. So either the purge finds this source, or the
    /// new generation is noticed here. If the request had to wait for the source, the generation was read before that.
    private func writeMember(
        _ source: NamedSource, under tag: SharedTag, since checkpoint: TagCheckpoint?
    ) async throws {
        let before =
            if let checkpoint { try await checkpoint.generation.value } else { try await generation(tag.label) }
        try await container.store(
            SharedBytes(source.encoded + signer.derived(under: tag).textSignature(of: source.encoded)),
            named: ObjectNames.member(source.source, of: tag), isDurable: false)
        if before?.array != (try await generation(tag.label))?.array {
            remove(.forget([source.source]), fulfilling: nil)
        }
    }

    /// Tries at intervals until the container is in use and has no pending removals.
    func recover() {
        guard !gate.isShutDown else { return }
        let isFirst = state.withLock { state in
            defer { state.isRecovering = true }
            return !state.isRecovering
        }
        guard isFirst else { return }
        Task.detached { [self] in
            while await !isRecovered() {
                try? await timekeeper.sleep(until: timekeeper.now + configuration.interval)
            }
        }
    }

    private func isRecovered() async -> Bool {
        if gate.admitProbe() { await probe() }
        deliveries.begin()
        await deliver()
        deliveries.end()
        let isUp = gate.isUp
        let isShutDown = gate.isShutDown
        return state.withLock { state in
            let isDone = isShutDown || isUp && state.pending.isEmpty
            if isDone { state.isRecovering = false }
            return isDone
        }
    }

    private func probe() async {
        let begun = timekeeper.now
        do {
            // A container that rejects writes can still be read.
            if !configuration.isReadOnly { try? await container.prepare() }
            _ = try await queryGeneration()
            gate.recordProbe(isQuick: timekeeper.now - begun <= configuration.timeout)
        } catch {
            if !gate.recordLoss("\(error)") { gate.reportOutage("\(error)") }
        }
    }
}
