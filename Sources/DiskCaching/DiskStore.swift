package import Coordination
package import Memory
package import Telemetry

/// Blobs in one SQLite file with a capacity in bytes and least-recently-used eviction; returns a blob as it was stored,
/// or nothing.
///
/// One thread does all disk work, behind a bounded queue. Writes are dropped when too many wait; readers wait for a
/// bounded time. A fault of the file (truncated, bits flipped, another program's, not writable) loses its contents and
/// nothing more: a new file is created, or the store works without one for a while. On a full disk the file is
/// read-only.
package final class DiskStore: Sendable {
    struct Shared {
        var changes: PendingChanges
        var health: DiskHealth
        var statistics = DiskStatistics()
        var evictedBefore: [DiskShare: Int] = [:]
        var isClosed = false
        var isFull = false
        var capacities: [DiskShare: Int]
    }

    private let configuration: DiskStoreConfiguration
    private let shared: Locked<Shared>
    let worker: DiskWorker
    let thread: WorkerPool
    private let timekeeper: any Timekeeper

    /// Creates a missing file, and replaces one of another version; throws if there can be no such file.
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

    /// The excess over a smaller capacity is removed later.
    package func setCapacities(_ capacities: [DiskShare: Int]) {
        shared.withLock { $0.capacities = capacities }
        trimIfAbove()
    }

    package func entry(for key: DiskKey) async -> CacheValue? {
        let row = await find(key)
        shared.withLock { shared in
            if row == nil { shared.statistics[key.share].misses += 1 } else { shared.statistics[key.share].hits += 1 }
        }
        return row
    }

    /// Returns whether the write was queued; if not, the entry under the key is removed, because it is outdated.
    @discardableResult
    package func store(_ entry: CacheValue, for key: DiskKey) -> Bool {
        let now = timekeeper.now
        let ticket: PendingChanges.Ticket? = shared.withLock { shared in
            guard shared.health.mayTry(at: now), !shared.isClosed, !shared.isFull else { return nil }
            return shared.changes.announce(bytes: entry.body.count, source: key.source)
        }
        guard let ticket else { return drop(key) }
        let isQueued = thread.submit { isCancelled in
            let isWanted = self.shared.withLock { $0.changes.finish(ticket) }
            if !isCancelled, isWanted { self.write(entry, for: key) }
        }
        if isQueued { return true }
        _ = shared.withLock { $0.changes.finish(ticket) }
        return drop(key)
    }

    package func remove(_ key: DiskKey) {
        shared.withLock { $0.changes.addRemoval(of: key) }
        scheduleRemovals()
    }

    package func removeAll(from source: [UInt8]) {
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
        } elseNote: {
            $0.addRemoval(source: digest)
        }
    }

    /// ``labels(under:)`` returns `label`.
    ///
    /// If too much work waits, the source is removed instead, so that no entry is unreachable by its tags.
    package func recordTags(_ tags: [String], of source: [UInt8], label: String) {
        let source = Checksum.of(source)
        let isQueued = thread.submit { isCancelled in
            if !isCancelled {
                self.worker.recordTags(tags.map { Checksum.of(Array($0.utf8)) }, of: source, name: Array(label.utf8))
            }
        }
        if !isQueued { shared.withLock { $0.changes.addRemoval(source: source) } }
    }

    /// Returns the labels of the sources recorded under a tag and not removed since, and whether the list is complete.
    package func labels(under tag: String) async -> (labels: [String], isComplete: Bool) {
        await answer(within: Self.operatorTimeLimit, or: ([], false)) { worker in
            let row = worker.perform { database throws(SQLiteError) in
                try database.tags.names(under: Checksum.of(Array(tag.utf8)))
            }
            guard let row else { return ([], false) }
            return (row.names.compactMap { String(validating: $0, as: UTF8.self) }, row.isComplete)
        }
    }

    /// Removes all entries but the notes; returns their size if it is known in time.
    package func purgeEverything() async -> DiskUsage {
        shared.withLock { $0.changes.cancelAllWrites() }
        return await purge {
            $0.removeEverything()
        } elseNote: {
            $0.addRemovalOfEverything()
        }
    }

    /// Stores all of the notes, replacing those of the same names, or none; returns whether they are in the file.
    ///
    /// Notes have their own capacity. If that or the disk is full, they are rejected; entries are not affected.
    package func store(_ notes: [DiskNote]) async -> Bool {
        await answer(within: configuration.readTimeLimit, or: false) { worker in
            worker.performOnNotes { table throws(SQLiteError) in try table.store(notes) } ?? false
        }
    }

    /// The note must have the same name and length; dropped if there is none, or too much work waits.
    package func replaceLater(_ note: DiskNote) {
        enqueue { $0.performOnNotes { table throws(SQLiteError) in try table.replace(note) } }
    }

    package func removeNotes(_ names: [[UInt8]]) {
        enqueue { $0.performOnNotes { table throws(SQLiteError) in try table.remove(names) } }
    }

    package func notes() async -> [DiskNote] {
        await answer(within: Self.operatorTimeLimit, or: []) { worker in
            worker.performOnNotes { table throws(SQLiteError) in try table.all() } ?? []
        }
    }

    package var statistics: DiskStatistics {
        shared.withLock { shared in
            var statistics = shared.statistics
            statistics.isWorking = shared.health.isWorking
            statistics.isFull = shared.isFull
            for share in DiskShare.allCases {
                statistics[share].capacity = shared.capacities[share] ?? 0
            }
            return statistics
        }
    }

    package func close(timeLimit limit: Duration) async {
        let answer = Promise<Bool>()
        // First, so that no work opens the file again.
        shared.withLock { $0.isClosed = true }
        let isQueued = thread.submit { _ in
            self.worker.close()
            answer.fulfill(true)
        }
        let isClosed = isQueued ? await answer.value(within: limit, by: timekeeper, or: false) : false
        // A disk that does not respond blocks the thread, which then ends with the process.
        if isClosed { thread.shutDown() }
    }

    private func find(_ key: DiskKey) async -> CacheValue? {
        // Ahead of queued writes, unless one of them is of the same source.
        let priority: WorkerPool.Priority =
            shared.withLock { $0.changes.isWriting(key.source) } ? .starting : .finishing
        return await answer(within: configuration.readTimeLimit, priority: priority, or: nil) { worker in
            worker.entry(for: key)
        }
    }

    private func write(_ entry: CacheValue, for key: DiskKey) {
        worker.performWrite { database throws(SQLiteError) in
            do throws(SQLiteError) {
                try database.entries.store(entry, for: key)
            } catch  where error.kind == .full {
                // The usage may be wrong, or the file's pages badly filled: recount, make room, and try once more.
                try database.entries.count()
                while try database.entries.trim() {}
                try database.entries.makeRoom(for: entry.cost, in: key.share)
                try database.evictAtFileLimit()
                try database.entries.store(entry, for: key)
            }
        }
    }

    private func trimIfAbove() {
        let isAbove = shared.withLock { shared in
            shared.statistics.shares.contains { $1.usage > shared.capacities[$0] ?? 0 }
        }
        if isAbove { trim() }
    }

    /// Evicts in steps, so that readers run in between.
    private func trim() {
        enqueue { worker in
            let hasMore = worker.performWrite { database throws(SQLiteError) in try database.entries.trim() }
            if hasMore == true { self.trim() }
        }
    }

    /// Ahead of all queued work; a removal that does not fit in the queue stays pending.
    private func purge(
        _ body: @escaping @Sendable (DiskWorker) -> DiskUsage, elseNote note: (inout PendingChanges) -> Void
    ) async -> DiskUsage {
        let answer = Promise<DiskUsage>()
        let isQueued = thread.submit(priority: .finishing) { isCancelled in
            answer.fulfill(isCancelled ? DiskUsage() : body(self.worker))
        }
        guard isQueued else {
            shared.withLock { note(&$0.changes) }
            return DiskUsage()
        }
        return await answer.value(within: Self.operatorTimeLimit, by: timekeeper, or: DiskUsage())
    }

    /// The limit of notes and the report of removals, which only operators wait for.
    private static let operatorTimeLimit = Duration.seconds(5)

    /// An older entry may stay on a full disk, because it is of the same version of its source: a new version removes
    /// all entries of the source.
    private func drop(_ key: DiskKey) -> Bool {
        let isFull = shared.withLock { shared in
            shared.statistics.droppedWrites += 1
            return shared.isFull
        }
        if !isFull { remove(key) }
        return false
    }

    private func retryWhileFull() {
        Task { [weak self, timekeeper, delay = configuration.fullDelay] in
            while true {
                try? await timekeeper.sleep(until: timekeeper.now + delay)
                guard let self, shared.withLock({ $0.isFull && !$0.isClosed }) else { return }
                enqueue { $0.retry() }
            }
        }
    }

    /// An empty job performs pending removals first; a full queue does not need one.
    private func scheduleRemovals() { enqueue { $0.perform { _ throws(SQLiteError) in } } }

    /// Queues work, or drops it if too much waits.
    private func enqueue(_ body: @escaping @Sendable (DiskWorker) -> Void) {
        _ = thread.submit { isCancelled in
            if !isCancelled { body(self.worker) }
        }
    }

    private func answer<Value: Sendable>(
        within limit: Duration, priority: WorkerPool.Priority = .starting, or fallback: Value,
        _ body: @escaping @Sendable (DiskWorker) -> Value
    ) async -> Value {
        let now = timekeeper.now
        guard shared.withLock({ $0.health.mayTry(at: now) && !$0.isClosed }) else { return fallback }
        let answer = Promise<Value>()
        let isQueued = thread.submit(priority: priority) { isCancelled in
            answer.fulfill(isCancelled ? fallback : body(self.worker))
        }
        guard isQueued else { return fallback }
        return await answer.value(within: limit, by: timekeeper, or: fallback)
    }
}
