package import Coordination
import Memory
package import Telemetry

/// Keeps blobs in one SQLite file, bounded by bytes, least recently used out first: an answer is what was stored, or nothing.
///
/// One thread does all that touches the disk, behind a bounded queue. Writes are given up when too much waits; readers wait for a
/// bounded time. Whatever is wrong with the file (cut short, bits flipped, somebody else's, no room, not writable) costs what was in
/// it and nothing more: it is begun anew, or done without for a while.
package final class DiskStore: Sendable {
    /// What the store's thread and its callers share.
    struct Shared {
        var debts: DiskDebts
        var health: DiskHealth
        var statistics = DiskStatistics()
        var evictedBefore: [DiskShare: Int] = [:]
        var isClosed = false
    }

    private let configuration: DiskStoreConfiguration
    private let shared: Locked<Shared>
    private let worker: DiskWorker
    private let thread: WorkerPool
    private let timekeeper: any Timekeeper

    /// Opens the store; the file is made where it is missing, and replaced where it is not one of this version.
    ///
    /// - Throws: ``DiskStoreError`` when there can be no such file.
    package init(
        _ configuration: DiskStoreConfiguration, logger: Logger, timekeeper: any Timekeeper
    ) throws(DiskStoreError) {
        self.configuration = configuration
        self.timekeeper = timekeeper
        shared = Locked(
            Shared(
                debts: DiskDebts(maximumBytes: configuration.maximumPendingBytes),
                health: DiskHealth(first: configuration.retryDelay, longest: configuration.maximumRetryDelay)))
        worker = try DiskWorker(configuration, shared: shared, logger: logger, timekeeper: timekeeper)
        thread = WorkerPool(count: 1, maximumQueued: configuration.maximumPendingJobs, name: "disk")
        if shared.withLock({ $0.statistics.shares.contains { $1.usage > configuration.capacities[$0] ?? 0 } }) {
            trim()
        }
    }

    /// The entry under `key`; nil when there is none, or none that is intact, or not in time.
    package func entry(for key: DiskKey) async -> DiskEntry? {
        let found = await find(key)
        shared.withLock { shared in
            if found == nil {
                shared.statistics.shares[key.share, default: DiskShareStatistics()].misses += 1
            } else {
                shared.statistics.shares[key.share, default: DiskShareStatistics()].hits += 1
            }
        }
        return found
    }

    /// Puts an entry in place of what is under its key, by and by.
    ///
    /// - Returns: Whether it will be tried; else what is under the key is removed, because it is out of date.
    @discardableResult
    package func store(_ entry: DiskEntry, for key: DiskKey) -> Bool {
        let now = timekeeper.now
        let ticket: DiskDebts.Ticket? = shared.withLock { shared in
            guard shared.health.mayTry(at: now), !shared.isClosed else { return nil }
            return shared.debts.announce(bytes: entry.body.count, source: key.source)
        }
        guard let ticket else { return drop(key) }
        let isQueued = thread.submit { isCancelled in
            let isWanted = self.shared.withLock { $0.debts.conclude(ticket) }
            if !isCancelled, isWanted { self.write(entry, for: key) }
        }
        if isQueued { return true }
        _ = shared.withLock { $0.debts.conclude(ticket) }
        return drop(key)
    }

    /// Removes what is under `key` before anything else is done.
    package func remove(_ key: DiskKey) {
        shared.withLock { $0.debts.owe(key) }
        settle()
    }

    /// Removes all made from the source of this name before anything else is done.
    package func removeAll(from source: [UInt8]) {
        let digest = Checksum.of(source)
        shared.withLock { $0.debts.owe(source: digest) }
        settle()
    }

    /// Removes all made from the source of this name; what it was, as far as that is known in time.
    package func removedAll(from source: [UInt8]) async -> (entries: Int, bytes: Int) {
        let digest = Checksum.of(source)
        shared.withLock { $0.debts.callOff(source: digest) }
        let usage = await removed {
            $0.removeAll(from: digest)
        } elseOwe: {
            $0.owe(source: digest)
        }
        return (usage.entries, usage.bytes)
    }

    /// Removes everything but the notes; what it was, as far as that is known in time.
    package func removedEverything() async -> (entries: Int, bytes: Int) {
        shared.withLock { $0.debts.callOffEverything() }
        let usage = await removed {
            $0.removeEverything()
        } elseOwe: {
            $0.oweEverything()
        }
        return (usage.entries, usage.bytes)
    }

    /// Keeps notes in place of those of their names, all of them or none; whether they are in the file.
    ///
    /// They have room of their own. Where that, or the disk, is full they are refused, which costs the entries nothing.
    package func keep(_ notes: [DiskNote]) async -> Bool {
        await answer(within: configuration.readTimeLimit, or: false) { worker in
            worker.performOnNotes { table throws(SQLiteError) in try table.keep(notes) } ?? false
        }
    }

    /// Puts a note in place of one of its name and length, by and by; given up when there is none, or too much waits.
    package func replaceLater(_ note: DiskNote) {
        _ = thread.submit { isCancelled in
            guard !isCancelled else { return }
            self.worker.performOnNotes { table throws(SQLiteError) in try table.replace(note) }
        }
    }

    /// Removes the notes of these names, by and by.
    package func removeNotes(_ names: [[UInt8]]) {
        _ = thread.submit { isCancelled in
            guard !isCancelled else { return }
            self.worker.performOnNotes { table throws(SQLiteError) in try table.remove(names) }
        }
    }

    /// All notes, by name.
    package func notes() async -> [DiskNote] {
        await answer(within: Self.operatorTimeLimit, or: []) { worker in
            worker.performOnNotes { table throws(SQLiteError) in try table.all() } ?? []
        }
    }

    /// Usage and counts at this moment.
    package var statistics: DiskStatistics {
        shared.withLock { shared in
            var statistics = shared.statistics
            statistics.isWorking = shared.health.isWorking
            for share in DiskShare.allCases {
                statistics.shares[share, default: DiskShareStatistics()].capacity =
                    configuration.capacities[share] ?? 0
            }
            return statistics
        }
    }

    /// Finishes what waits, within `limit`, and closes the file; the store answers nothing afterwards.
    package func close(timeLimit limit: Duration) async {
        let answer = FirstAnswer<Bool>()
        // First, so that nothing opens the file again.
        shared.withLock { $0.isClosed = true }
        let isQueued = thread.submit { _ in
            self.worker.close()
            answer.give(true)
        }
        let isClosed = isQueued ? await answer.value(within: limit, by: timekeeper, or: false) : false
        // A disk that does not answer holds its thread, which then ends with the process.
        if isClosed { thread.shutDown() }
    }

    /// Waits until all that was asked for so far is done; for tests.
    package func settled() async {
        let answer = FirstAnswer<Void>()
        guard thread.submit({ _ in answer.give(()) }) else { return }
        await answer.value()
    }

    /// Pieces of work that wait for the thread; for tests.
    var pendingCount: Int { thread.queuedCount }

    /// Runs `body` on the store's thread with its open file; for tests.
    func withDatabase(_ body: @escaping @Sendable (DiskDatabase) throws -> Void) async {
        let answer = FirstAnswer<Void>()
        _ = thread.submit { _ in
            _ = self.worker.perform { database throws(SQLiteError) in try? body(database) }
            answer.give(())
        }
        await answer.value()
    }

    private func find(_ key: DiskKey) async -> DiskEntry? {
        // Ahead of the writes that wait, unless one of them is of the same source.
        let priority: WorkerPool.Priority = shared.withLock { $0.debts.isWriting(key.source) } ? .starting : .finishing
        return await answer(within: configuration.readTimeLimit, priority: priority, or: nil) { worker in
            worker.perform { database throws(SQLiteError) in
                switch try database.entries.entry(for: key) {
                case .intact(let entry): return entry
                case .damaged:
                    worker.countDamagedEntry()
                    try database.entries.remove(key)
                    return nil
                case nil: return nil
                }
            } ?? nil
        }
    }

    private func write(_ entry: DiskEntry, for key: DiskKey) {
        worker.perform { database throws(SQLiteError) in
            do throws(SQLiteError) {
                try database.entries.store(entry, for: key)
            } catch  where error.kind == .full {
                // The sums may be wrong, or the file's pages ill used: count, make room, and try once more.
                try database.entries.count()
                while try database.entries.trim() {}
                try database.entries.makeRoom(for: entry.cost, in: key.share)
                try database.entries.store(entry, for: key)
            }
        }
    }

    /// Evicts what is above the capacities, step by step, so that readers come in between.
    private func trim() {
        _ = thread.submit { isCancelled in
            guard !isCancelled else { return }
            let isMore = self.worker.perform { database throws(SQLiteError) in try database.entries.trim() }
            if isMore == true { self.trim() }
        }
    }

    /// Removes ahead of all that waits; what finds no room in the queue is owed.
    private func removed(
        _ body: @escaping @Sendable (DiskWorker) -> EntryTable.Usage, elseOwe owe: (inout DiskDebts) -> Void
    ) async -> EntryTable.Usage {
        let answer = FirstAnswer<EntryTable.Usage>()
        let isQueued = thread.submit(priority: .finishing) { isCancelled in
            answer.give(isCancelled ? EntryTable.Usage() : body(self.worker))
        }
        guard isQueued else {
            shared.withLock { owe(&$0.debts) }
            return EntryTable.Usage()
        }
        return await answer.value(within: Self.operatorTimeLimit, by: timekeeper, or: EntryTable.Usage())
    }

    /// How long what only operators wait for may take: what was removed, and is removed in any case, and the notes.
    private static let operatorTimeLimit = Duration.seconds(5)

    private func drop(_ key: DiskKey) -> Bool {
        shared.withLock { $0.statistics.droppedWrites += 1 }
        remove(key)
        return false
    }

    /// Gives the thread an occasion; when the queue is full there are occasions enough.
    private func settle() {
        _ = thread.submit { isCancelled in
            if !isCancelled { self.worker.perform { _ throws(SQLiteError) in } }
        }
    }

    /// What `body` makes on the store's thread, or `fallback` when it does not come in time.
    private func answer<Value: Sendable>(
        within limit: Duration, priority: WorkerPool.Priority = .starting, or fallback: Value,
        _ body: @escaping @Sendable (DiskWorker) -> Value
    ) async -> Value {
        let now = timekeeper.now
        guard shared.withLock({ $0.health.mayTry(at: now) && !$0.isClosed }) else { return fallback }
        let answer = FirstAnswer<Value>()
        let isQueued = thread.submit(priority: priority) { isCancelled in
            answer.give(isCancelled ? fallback : body(self.worker))
        }
        guard isQueued else { return fallback }
        return await answer.value(within: limit, by: timekeeper, or: fallback)
    }
}
