package import Coordination
package import Memory
package import Telemetry

/// Stores blobs in one SQLite file, with a capacity in bytes and least-recently-used eviction.
///
/// Returns a blob exactly as it was stored, or nothing.
///
/// One thread does all disk work, with a bounded queue. Writes are dropped when too many wait; readers wait for a
/// bounded time. A fault of the file (truncated, bits flipped, another program's, not writable) only loses its
/// contents: a new file is created, or the store works without one for a while. On a full disk the file is read-only.
package final class DiskStore: Sendable {
    struct Shared {
        var changes: PendingChanges
        var health: DiskHealth
        var statistics = DiskStatistics()
        var evictedBefore: [DiskPartition: Int] = [:]
        var isShutDown = false
        var isFull = false
        var capacities: [DiskPartition: Int]
    }

    /// The time limit for notes and removal reports, which only operators wait for.
    private static let operatorTimeLimit = Duration.seconds(5)

    private let configuration: DiskStoreConfiguration
    private let shared: Locked<Shared>
    let worker: DiskWorker
    let thread: WorkerPool
    private let timekeeper: any Timekeeper

    /// Opens the file, creating or replacing it if necessary; throws if the folder is unusable.
    package init(
        _ configuration: DiskStoreConfiguration, logger: Logger, timekeeper: any Timekeeper
    ) throws(DiskStoreError) {
        self.configuration = configuration
        self.timekeeper = timekeeper
        shared = Locked(
            Shared(
                changes: PendingChanges(maximumBytes: configuration.maximumPendingBytes),
                health: DiskHealth(firstDelay: configuration.retryDelay, maximumDelay: configuration.maximumRetryDelay),
                capacities: configuration.capacities))
        worker = try DiskWorker(configuration, shared: shared, logger: logger, timekeeper: timekeeper)
        thread = WorkerPool(count: 1, maximumQueued: configuration.maximumPendingJobs, name: "disk")
        worker.onFull = { [weak self] in self?.retryWhileFull() }
        if shared.withLock({ $0.isFull }) { retryWhileFull() }
        trimIfAbove()
    }

    /// Changes the capacities; entries beyond a smaller capacity are removed later.
    package func setCapacities(_ capacities: [DiskPartition: Int]) {
        shared.withLock { $0.capacities = capacities }
        trimIfAbove()
    }

    package func entry(for key: DiskKey) async -> CacheValue? {
        let row = await find(key)
        shared.withLock { shared in
            if row == nil {
                shared.statistics[key.partition].misses += 1
            } else {
                shared.statistics[key.partition].hits += 1
            }
        }
        return row
    }

    /// Queues a write; if it is dropped, returns false and removes the previous entry, which is outdated.
    @discardableResult
    package func store(_ entry: CacheValue, for key: DiskKey) -> Bool {
        let now = timekeeper.now
        let ticket: PendingChanges.Ticket? = shared.withLock { shared in
            guard shared.health.mayAttempt(at: now), !shared.isShutDown, !shared.isFull else { return nil }
            return shared.changes.registerWrite(bytes: entry.body.count, source: key.source)
        }
        guard let ticket else { return drop(key) }
        let isQueued = thread.submit { isCancelled in
            let isWanted = self.shared.withLock { $0.changes.finishWrite(ticket) }
            if !isCancelled, isWanted { self.write(entry, for: key) }
        }
        if isQueued { return true }
        _ = shared.withLock { $0.changes.finishWrite(ticket) }
        return drop(key)
    }

    /// Removes an entry before any later work; does not wait for the disk.
    package func forget(_ key: DiskKey) {
        shared.withLock { $0.changes.addRemoval(of: key) }
        scheduleRemovals()
    }

    package func forgetAll(from source: [UInt8]) {
        let digest = Checksum.of(source)
        shared.withLock { $0.changes.addRemoval(source: digest) }
        scheduleRemovals()
    }

    /// Returns the size of the removed entries, if it is known in time.
    package func purgeAll(from source: [UInt8]) async -> DiskUsage {
        let digest = Checksum.of(source)
        shared.withLock { $0.changes.cancelWrites(source: digest) }
        return await purge {
            $0.removeAll(from: digest)
        } orLater: {
            $0.addRemoval(source: digest)
        }
    }

    /// Records the tags of a source under its label, which ``labels(under:)`` returns.
    ///
    /// If too much work waits, removes the source instead, so that every entry can be purged by its tags.
    package func recordTags(_ tags: [String], of source: [UInt8], label: String) {
        let source = Checksum.of(source)
        let isQueued = thread.submit { isCancelled in
            if !isCancelled {
                self.worker.recordTags(tags.map { Checksum.of(Array($0.utf8)) }, of: source, name: Array(label.utf8))
            }
        }
        if !isQueued { shared.withLock { $0.changes.addRemoval(source: source) } }
    }

    package func labels(under tag: String) async -> TaggedLabels {
        await result(within: Self.operatorTimeLimit, or: TaggedLabels()) { worker in
            worker.perform { database throws(SQLiteError) in
                try database.tags.labels(under: Checksum.of(Array(tag.utf8)))
            } ?? TaggedLabels()
        }
    }

    /// Removes all entries except notes; returns their size if it is known in time.
    package func purgeEverything() async -> DiskUsage {
        shared.withLock { $0.changes.cancelAllWrites() }
        return await purge {
            $0.removeEverything()
        } orLater: {
            $0.addRemovalOfEverything()
        }
    }

    /// Stores either all notes, replacing those with the same names, or none; returns whether they are in the file.
    ///
    /// Notes have their own capacity. If it is used up or the disk is full, they are rejected; entries are not
    /// affected.
    package func store(_ notes: [DiskNote]) async -> Bool {
        await result(within: configuration.readTimeLimit, or: false) { worker in
            worker.performOnNotes { table throws(SQLiteError) in try table.store(notes) } ?? false
        }
    }

    /// Replaces a note of the same name and length; does nothing if there is none, or too much work waits.
    package func replaceLater(_ note: DiskNote) {
        enqueue { $0.performOnNotes { table throws(SQLiteError) in try table.replace(note) } }
    }

    package func removeNotes(_ names: [[UInt8]]) {
        enqueue { $0.performOnNotes { table throws(SQLiteError) in try table.remove(names) } }
    }

    package func notes() async -> [DiskNote] {
        await result(within: Self.operatorTimeLimit, or: []) { worker in
            worker.performOnNotes { table throws(SQLiteError) in try table.all() } ?? []
        }
    }

    package var statistics: DiskStatistics {
        shared.withLock { shared in
            var statistics = shared.statistics
            statistics.isWorking = shared.health.isWorking
            statistics.isFull = shared.isFull
            for partition in DiskPartition.allCases {
                statistics[partition].capacity = shared.capacities[partition] ?? 0
            }
            return statistics
        }
    }

    package func shutDown(timeLimit limit: Duration) async {
        let promise = Promise<Bool>()
        // Do this first, so that no work opens the file again.
        shared.withLock { $0.isShutDown = true }
        let isQueued = thread.submit { _ in
            self.worker.close()
            promise.fulfill(true)
        }
        let isClosed = isQueued ? await promise.value(within: limit, by: timekeeper, or: false) : false
        // If the disk does not respond, its thread stays blocked and ends with the process.
        if isClosed { thread.shutDown() }
    }

    private func find(_ key: DiskKey) async -> CacheValue? {
        // Reads go ahead of queued writes, unless one of these is for the same source.
        let priority: WorkerPool.Priority =
            shared.withLock { $0.changes.isWriting(key.source) } ? .starting : .finishing
        return await result(within: configuration.readTimeLimit, priority: priority, or: nil) { worker in
            worker.entry(for: key)
        }
    }

    private func write(_ entry: CacheValue, for key: DiskKey) {
        worker.performWrite { database throws(SQLiteError) in
            do throws(SQLiteError) {
                try database.entries.store(entry, for: key)
            } catch  where error.kind == .full {
                // The usage may be wrong, or the file's pages badly filled: recount, evict, and try once more.
                try database.entries.count()
                while try database.entries.trim() {}
                try database.entries.evict(toFit: entry.cost, in: key.partition)
                try database.evictAtFileLimit()
                try database.entries.store(entry, for: key)
            }
        }
    }

    private func trimIfAbove() {
        let isAbove = shared.withLock { shared in
            shared.statistics.partitions.contains { $1.usage > shared.capacities[$0] ?? 0 }
        }
        if isAbove { trim() }
    }

    private func trim() {
        enqueue { worker in
            let hasMore = worker.performWrite { database throws(SQLiteError) in try database.entries.trim() }
            if hasMore == true { self.trim() }
        }
    }

    /// Removes entries ahead of all queued work; a removal that does not fit in the queue stays pending.
    private func purge(
        _ body: @escaping @Sendable (DiskWorker) -> DiskUsage, orLater postpone: (inout PendingChanges) -> Void
    ) async -> DiskUsage {
        let promise = Promise<DiskUsage>()
        let isQueued = thread.submit(priority: .finishing) { isCancelled in
            promise.fulfill(isCancelled ? DiskUsage() : body(self.worker))
        }
        guard isQueued else {
            shared.withLock { postpone(&$0.changes) }
            return DiskUsage()
        }
        return await promise.value(within: Self.operatorTimeLimit, by: timekeeper, or: DiskUsage())
    }

    /// Removes an outdated entry; on a full disk it may stay, because a new version of the source removes it.
    private func drop(_ key: DiskKey) -> Bool {
        let isFull = shared.withLock { shared in
            shared.statistics.droppedWrites += 1
            return shared.isFull
        }
        if !isFull { forget(key) }
        return false
    }

    private func retryWhileFull() {
        Task { [weak self, timekeeper, delay = configuration.fullDelay] in
            while true {
                try? await timekeeper.sleep(until: timekeeper.now + delay)
                guard let self, shared.withLock({ $0.isFull && !$0.isShutDown }) else { return }
                enqueue { $0.retry() }
            }
        }
    }

    /// Performs pending removals with an empty job; if the queue is full, its jobs perform them.
    private func scheduleRemovals() { enqueue { $0.perform { _ throws(SQLiteError) in } } }

    private func enqueue(_ body: @escaping @Sendable (DiskWorker) -> Void) {
        _ = thread.submit { isCancelled in
            if !isCancelled { body(self.worker) }
        }
    }

    private func result<Value: Sendable>(
        within limit: Duration, priority: WorkerPool.Priority = .starting, or fallback: Value,
        _ body: @escaping @Sendable (DiskWorker) -> Value
    ) async -> Value {
        let now = timekeeper.now
        guard shared.withLock({ $0.health.mayAttempt(at: now) && !$0.isShutDown }) else { return fallback }
        let promise = Promise<Value>()
        let isQueued = thread.submit(priority: priority) { isCancelled in
            promise.fulfill(isCancelled ? fallback : body(self.worker))
        }
        guard isQueued else { return fallback }
        return await promise.value(within: limit, by: timekeeper, or: fallback)
    }
}
