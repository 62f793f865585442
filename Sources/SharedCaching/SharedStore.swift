package import Coordination
package import Memory
package import Telemetry

/// A store shared by several instances: a Redis or Valkey server (shared cache), or a folder or bucket (result store).
///
/// Returns values that were stored and not removed since, or nothing. A lookup waits for a bounded time; a write never
/// waits, and is dropped if too many are queued. A store that is slow, full, unreachable or malicious only causes
/// misses. Values include the generations of their sources, which a removal replaces by new random ones, so a value
/// whose computation began before a removal is never found after it.
package final class SharedStore: Sendable {
    /// The number of concurrent lookups in a folder or bucket; further ones count as misses.
    package static let maximumObjectReads = 64
    private static let maximumServerReads = 4_096
    private static let removalTimeLimit = Duration.seconds(1)
    /// Longer than for a source, because many sources may have to be read.
    private static let tagTimeLimit = Duration.seconds(5)

    private let backend: any StoreBackend
    private let gate: StoreGate
    private let signer: SharedSigner
    private let configuration: SharedStoreConfiguration
    private var timekeeper: any Timekeeper { gate.timekeeper }

    /// Creates a store on a server, which is unused until ``start(_:position:)``.
    package init(
        _ configuration: SharedCacheConfiguration, logger: Logger, timekeeper: any Timekeeper
    ) throws(SharedStoreFailure) {
        self.configuration = configuration.store
        signer = configuration.credentials.signer
        gate = StoreGate(
            configuration.store, maximumReads: Self.maximumServerReads, messages: .sharedCache, logger: logger,
            timekeeper: timekeeper)
        backend = try RedisBackend(configuration, gate: gate)
    }

    /// Creates a store in a folder or bucket, which is unused until ``start(_:position:)``.
    package init(
        _ container: any ObjectContainer, configuration: SharedStoreConfiguration, logger: Logger,
        timekeeper: any Timekeeper
    ) {
        self.configuration = configuration
        signer = SharedSigner(key: configuration.key)
        gate = StoreGate(
            configuration, maximumReads: Self.maximumObjectReads, messages: .resultStore, logger: logger,
            timekeeper: timekeeper)
        backend = ObjectBackend(container, configuration: configuration, signer: signer, gate: gate)
    }

    /// Connects, and reconnects after failures.
    ///
    /// - Parameters:
    ///   - handlers: Called for purges of other instances, which folders and buckets do not announce.
    ///   - position: The log position of an earlier process, if its entries are still on disk.
    package func start(
        _ handlers: PurgeHandlers = PurgeHandlers(), position: [UInt8]? = nil
    ) throws(SharedStoreFailure) {
        try backend.start(handlers, position: position)
    }

    /// Waits for the first connection, at most for the timeout of a lookup.
    ///
    /// Sources fetched before it have no generation, so their results would not be stored.
    package func waitForFirstProbe() { gate.waitForFirstProbe() }

    /// Finishes queued writes and retries pending removals once; logs the unconfirmed ones.
    package func shutDown(timeLimit: Duration) async {
        gate.shutDown()
        await backend.shutDown(timeLimit: timeLimit)
    }

    package var statistics: SharedStoreStatistics { gate.statistics }

    package var isUp: Bool { gate.isUp }

    /// Whether the store is a server; in a folder or bucket, each operation accesses objects.
    package var isServer: Bool { backend.isServer }

    package var isReadOnly: Bool { configuration.isReadOnly }

    /// Returns a value and its generations.
    ///
    /// - Parameters:
    ///   - createsGenerations: Whether to create missing generations, because the sources are about to be fetched.
    ///   - allowance: The time for which the request has already waited for the store.
    package func value(
        for key: SharedKey, of sources: [SharedSource], createsGenerations: Bool = false, allowance: WaitBudget
    ) async -> SharedLookup {
        let promise = Promise<SharedReply?>()
        let isSent = query(key, of: sources, createsGenerations: createsGenerations, allowance: allowance) {
            promise.fulfill($0)
        }
        guard isSent, let reply = await promise.value(orIfCanceled: nil) else { return SharedLookup() }
        return verify(reply)
    }

    /// Like ``value(for:of:createsGenerations:allowance:)``, without waiting.
    ///
    /// - Parameter completion: Called once, on any thread; must not block.
    /// - Returns: Whether the query was sent; if not, `completion` is not called.
    package func query(
        _ key: SharedKey, of sources: [SharedSource], createsGenerations: Bool, allowance: WaitBudget,
        completion: @escaping @Sendable (SharedReply) -> Void
    ) -> Bool {
        let limit = allowance.remaining(of: configuration.timeout)
        guard limit > .zero, backend.mayRead(sources), gate.admitRead() else { return false }
        let begun = timekeeper.now
        let sourceCount = sources.count
        backend.read(key, of: sources, createsGenerations: createsGenerations && !isReadOnly, within: limit) {
            [gate] result in
            gate.endRead(with: result)
            allowance.spend(gate.timekeeper.now - begun)
            completion(SharedReply(result: result, key: key, sourceCount: sourceCount))
        }
        return true
    }

    /// Verifies a reply; call it only once, because hashing takes about a millisecond per MiB.
    package func verify(_ reply: SharedReply) -> SharedLookup {
        let lookup = reply.verified(by: signer)
        if let result = lookup.result { gate.count(result) }
        return lookup
    }

    /// Writes a value on another thread.
    ///
    /// - Parameters:
    ///   - generations: The generations, one per source, from before the value was computed.
    ///   - seconds: The lifetime on a server; a folder or bucket keeps the value until it is purged.
    /// - Returns: Whether the write was queued.
    @discardableResult
    package func store(
        _ value: CacheValue, for key: SharedKey, of sources: [SharedSource], under generations: [SharedGenerations],
        seconds: Int
    ) -> Bool {
        let length = value.length(generations: generations.count + 1)
        guard !isReadOnly, generations.count == sources.count, let first = generations.first,
            generations.allSatisfy({ $0.everything == first.everything }), length <= configuration.maximumValueBytes,
            seconds > 0 || !isServer, gate.admitWrite(of: length, in: .values)
        else { return false }
        let signed = value.encoded(
            under: key, generations: [first.everything] + generations.map(\.source), signer: signer)
        backend.write(signed, for: key, of: sources, seconds: seconds)
        return true
    }

    /// Counts a dropped write if the server is full: it then creates no generations, which every write needs.
    package func countDropIfFull() { gate.countDropIfFull() }

    /// Returns the state of a tag before a source is requested under it.
    ///
    /// From here on no removal by the tag is missed, if ``record(_:of:since:)`` follows once the source is available.
    package func checkpoint(of tag: SharedTag, for source: NamedSource) -> TagCheckpoint? {
        isReadOnly || !isUp ? nil : backend.checkpoint(of: tag, for: source)
    }

    /// Records a source under a tag; repeated while the source is served under it, dropped if its queue is full.
    package func record(_ tag: SharedTag, of source: NamedSource, since checkpoint: TagCheckpoint?) {
        if !isReadOnly { backend.record(tag, of: source, since: checkpoint) }
    }

    package func forget(_ sources: [SharedSource]) { backend.remove(.forget(sources), fulfilling: nil) }

    /// Removes sources and notifies other instances if the store can; waits for a bounded time.
    package func purge(_ sources: [NamedSource]) async -> RemovalState {
        await perform(.purge(PurgeNotice.notices(of: sources)))
    }

    package func purge(_ removal: TagRemoval) async -> RemovalState {
        await perform(.tagged(removal), within: Self.tagTimeLimit)
    }

    /// Removes everything and notifies other instances if the store can; waits for a bounded time.
    package func purgeEverything() async -> RemovalState { await perform(.everything(PurgeNotice(.everything))) }

    /// Performs all earlier purges; a folder or bucket has no log of purges, only generations.
    package func catchUpWithPurges() async -> Bool { await backend.catchUpWithPurges() }

    private func perform(
        _ removal: PendingRemovals.Removal, within limit: Duration = removalTimeLimit
    ) async -> RemovalState {
        let promise = Promise<RemovalState>()
        backend.remove(removal, fulfilling: promise)
        return await promise.value(within: limit, by: timekeeper, or: .pending)
    }
}
