import Coordination
import Memory
import Telemetry

/// The open file and the handling of its failures.
///
/// Unchecked, because after initialization only the store's thread uses it; other threads read values under the store's
/// lock.
final class DiskWorker: @unchecked Sendable {
    /// The number of unwritten removals above which everything is removed.
    private static let maximumUnwritten = 1 << 16

    private let folder: DiskFolder
    private var configuration: DiskStoreConfiguration
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let shared: Locked<DiskStore.Shared>
    private var database: DiskDatabase?
    private var unwritten = PendingChanges.Removals()
    /// Whether an earlier process left unwritten removals.
    private var hasEarlierRemovals = false
    var onFull: @Sendable () -> Void = {}

    init(
        _ configuration: DiskStoreConfiguration, shared: Locked<DiskStore.Shared>, logger: Logger,
        timekeeper: any Timekeeper
    ) throws(DiskStoreError) {
        folder = DiskFolder(path: configuration.folder)
        self.configuration = configuration
        self.shared = shared
        self.logger = logger
        self.timekeeper = timekeeper
        do throws(DiskStoreError) {
            let database = try open()
            self.database = database
            if database.isFull { becomeFull(DiskStoreError.full.description) }
        } catch  where error == .full {
            becomeFull(error.description)
        }
        publish()
    }

    /// Runs `body` with the file after pending removals; returns nil if the file is not in use, or failed.
    @discardableResult
    func perform<Value>(_ body: (DiskDatabase) throws(SQLiteError) -> Value) -> Value? {
        guard let database = usableDatabase() else { return nil }
        defer { publish() }
        do {
            return try body(try performRemovals(database))
        } catch {
            fail(error)
            return nil
        }
    }

    /// Runs `body` with the file; also returns nil while the disk is full.
    @discardableResult
    func performWrite<Value>(_ body: (DiskDatabase) throws(SQLiteError) -> Value) -> Value? {
        perform { database throws(SQLiteError) -> Value? in isFull ? nil : try body(database) } ?? nil
    }

    /// Runs `body` with the notes, which never evict entries; also returns nil while the disk is full.
    @discardableResult
    func performOnNotes<Value>(_ body: (NoteTable) throws(SQLiteError) -> Value) -> Value? {
        perform { database throws(SQLiteError) -> Value? in
            do throws(SQLiteError) {
                return try body(database.notes)
            } catch  where error.kind == .full {
                return nil
            }
        } ?? nil
    }

    func entry(for key: DiskKey) -> CacheValue? {
        perform { database throws(SQLiteError) -> CacheValue? in
            guard !unwritten.covers(key) else { return nil }
            switch try database.entries.entry(for: key) {
            case .intact(let entry): return entry
            case .damaged:
                shared.withLock { $0.statistics.damagedEntries += 1 }
                if !isFull { try database.entries.remove(key) }
                return nil
            case nil: return nil
            }
        } ?? nil
    }

    func removeAll(from source: [UInt8]) -> DiskUsage {
        let removed = performWrite { database throws(SQLiteError) in try Self.removeAll(from: source, in: database) }
        if let removed { return removed }
        // The disk is full: record removals that cannot be written, so that these entries are not read again.
        if isFull, database != nil { postpone(PendingChanges.Removals(sources: [source])) }
        return DiskUsage()
    }

    private static func removeAll(from source: [UInt8], in database: DiskDatabase) throws(SQLiteError) -> DiskUsage {
        try database.tags.remove(source)
        return try database.entries.removeAll(from: source)
    }

    /// Records the tags, or removes the source if there is too little space for them.
    func recordTags(_ tags: [[UInt8]], of source: [UInt8], name: [UInt8]) {
        perform { database throws(SQLiteError) in
            if isFull {
                if try !database.tags.contains(tags, of: source) {
                    postpone(PendingChanges.Removals(sources: [source]))
                }
                return
            }
            do throws(SQLiteError) {
                for source in try database.tags.recordTags(tags, of: source, name: name) {
                    _ = try database.entries.removeAll(from: source)
                }
            } catch  where error.kind == .full {
                becomeFull("\(error)")
                postpone(PendingChanges.Removals(sources: [source]))
            }
        }
    }

    private var isFull: Bool { shared.withLock { $0.isFull } }

    func retry() {
        guard isFull, folder.hasFreeSpace else { return }
        if database == nil { database = try? open() }
        guard let database else { return }
        database.entries.isReadOnly = true
        defer { publish() }
        do {
            let database = try performRemovals(database, isRetry: true)
            guard unwritten.isEmpty else { return }
            try database.checkWriting()
            folder.record(removals: [])
            shared.withLock { $0.isFull = false }
            self.database?.entries.isReadOnly = false
            logger.info("disk cache writable again")
        } catch  where error.kind == .full {
            return
        } catch {
            fail(error)
        }
    }

    private func becomeFull(_ detail: String) {
        if let database {
            database.entries.isReadOnly = true
            // A write that failed halfway has changed the usage.
            try? database.entries.count()
        }
        let isNew = shared.withLock { shared in
            defer { shared.isFull = true }
            if !shared.isFull { shared.statistics.fullDisks += 1 }
            return !shared.isFull
        }
        guard isNew else { return }
        logger.warning("disk cache full; read-only", ["detail": .string(detail)])
        onFull()
    }

    private func postpone(_ removals: PendingChanges.Removals) {
        unwritten.add(removals, atMost: Self.maximumUnwritten)
        folder.record(removals: Array(unwritten.sources.union(unwritten.keys.map(\.source))))
    }

    /// Creates a new file with the notes of the old one; returns the usage of the old one.
    func removeEverything() -> DiskUsage {
        _ = shared.withLock { $0.changes.takeRemovals() }
        guard let database = usableDatabase() else { return DiskUsage() }
        defer { publish() }
        do {
            return try empty(database)
        } catch {
            fail(error)
            return DiskUsage()
        }
    }

    func close() {
        _ = performWrite { database throws(SQLiteError) in try database.entries.writeOrder() }
        database = nil
    }

    /// Performs removals; even on a full disk they often fit in the log, which is overwritten from its start.
    private func performRemovals(_ database: DiskDatabase, isRetry: Bool = false) throws(SQLiteError) -> DiskDatabase {
        let (due, capacities) = shared.withLock { ($0.changes.takeRemovals(), $0.capacities) }
        if capacities != configuration.capacities {
            configuration.capacities = capacities
            try database.setCapacities(configuration)
        }
        guard !due.isEmpty || isRetry else { return database }
        var pendingRemovals = unwritten
        pendingRemovals.add(due, atMost: Self.maximumUnwritten)
        if pendingRemovals.isEverything {
            unwritten = PendingChanges.Removals()
            _ = try empty(database)
            guard let emptied = self.database else { throw .full }
            return emptied
        }
        // Removals of missing entries are complete.
        var keyRemovals = PendingChanges.Removals(keys: pendingRemovals.keys)
        for source in pendingRemovals.sources where try database.entries.has(source) {
            keyRemovals.sources.insert(source)
        }
        do throws(SQLiteError) {
            for source in pendingRemovals.sources { _ = try Self.removeAll(from: source, in: database) }
            for key in pendingRemovals.keys { try database.entries.remove(key) }
            if !unwritten.isEmpty || hasEarlierRemovals { folder.record(removals: []) }
            unwritten = PendingChanges.Removals()
            hasEarlierRemovals = false
        } catch  where error.kind == .full {
            becomeFull("\(error)")
            unwritten = PendingChanges.Removals()
            postpone(keyRemovals)
        }
        return database
    }

    /// Empties the store by deleting its file, which is fast at any size and frees the space.
    private func empty(_ old: DiskDatabase) throws(SQLiteError) -> DiskUsage {
        let notes = try old.notes.all()
        let removed = old.entries.usage.values.reduce(into: DiskUsage()) { total, usage in
            total.bytes += usage.bytes
            total.entries += usage.entries
        }
        countEvictedBytes(of: old)
        database = nil
        guard folder.discard() else { throw SQLiteError(code: 10, message: "the file cannot be deleted") }
        do {
            let (new, _) = try DiskDatabase.open(folder, configuration: configuration)
            database = new
            _ = try new.notes.store(notes)
        } catch let error as SQLiteError {
            throw error
        } catch DiskStoreError.full {
            throw .full
        } catch {
            throw SQLiteError(code: 10, message: "\(error)")
        }
        return removed
    }

    /// Returns the database; reopens it if it was closed or its file replaced.
    private func usableDatabase() -> DiskDatabase? {
        let isLost = database.map { !folder.contains($0.files) } ?? false
        if let database {
            guard isLost else { return database }
            countEvictedBytes(of: database)
            logger.warning("disk cache file gone or replaced")
            shared.withLock { $0.statistics.lostFiles += 1 }
        }
        database = nil
        let now = timekeeper.now
        guard shared.withLock({ $0.health.mayAttempt(at: now) && !$0.isShutDown }), isLost || !isFull else {
            return nil
        }
        do {
            database = try openEmpty()
            if !isLost {
                shared.withLock { $0.health.recover(at: now) }
                logger.info("disk cache enabled again")
            }
        } catch  where error == .full {
            becomeFull(error.description)
        } catch {
            if isLost { disable("\(error)") } else { shared.withLock { $0.health.fail(at: now) } }
        }
        return database
    }

    /// Opens an empty file, because the existing one may contain removed entries.
    private func openEmpty() throws(DiskStoreError) -> DiskDatabase {
        do throws(DiskStoreError) {
            let (database, state) = try DiskDatabase.open(folder, configuration: configuration)
            if state != .known {
                _ = shared.withLock { $0.changes.takeRemovals() }
                return database
            }
        } catch {
            // A file in use by another process must not be deleted; deleting any other one fixes its fault.
            if error == .inUse || error == .full { throw error }
        }
        guard folder.discard() else { throw .unusable(reason: "the file cannot be deleted") }
        _ = shared.withLock { $0.changes.takeRemovals() }
        return try open()
    }

    private func open() throws(DiskStoreError) -> DiskDatabase {
        let (database, state) = try DiskDatabase.open(folder, configuration: configuration)
        if state == .known {
            let removals = folder.removals
            hasEarlierRemovals = !removals.isEmpty
            shared.withLock { shared in for source in removals { shared.changes.addRemoval(source: source) } }
        }
        if state == .emptied || state == .setAside {
            logger.warning("disk cache file not usable", ["outcome": .string(state.rawValue)])
            shared.withLock { $0.statistics.damagedFiles += 1 }
        }
        return database
    }

    /// Replaces a damaged file immediately; after other failures, except a full disk, deletes it and pauses.
    ///
    /// A file that cannot be written would soon be outdated.
    private func fail(_ error: SQLiteError) {
        if error.kind == .full { return becomeFull("\(error)") }
        if let database { countEvictedBytes(of: database) }
        database = nil
        let isDeleted = folder.discard()
        if error.kind == .damaged, isDeleted, let fresh = try? open() {
            logger.warning("disk cache file damaged", ["detail": .string("\(error)"), "outcome": "emptied"])
            shared.withLock { $0.statistics.damagedFiles += 1 }
            database = fresh
            return
        }
        disable("\(error)")
    }

    private func disable(_ detail: String) {
        let now = timekeeper.now
        shared.withLock { shared in
            shared.statistics.failures += 1
            shared.health.fail(at: now)
        }
        logger.error("disk cache disabled", ["detail": .string(detail)])
    }

    private func countEvictedBytes(of database: DiskDatabase) {
        shared.withLock { shared in
            for (partition, bytes) in database.entries.evictedBytes {
                shared.evictedBefore[partition, default: 0] += bytes
            }
        }
    }

    private func publish() {
        let usage = database?.entries.usage ?? [:]
        let evicted = database?.entries.evictedBytes ?? [:]
        let noteUsage = database?.notes.usage ?? 0
        let tagUsage = database?.tags.usage ?? 0
        shared.withLock { shared in
            shared.statistics.noteUsage = noteUsage
            shared.statistics.tagUsage = tagUsage
            for partition in DiskPartition.allCases {
                shared.statistics[partition].usage = usage[partition]?.bytes ?? 0
                shared.statistics[partition].entries = usage[partition]?.entries ?? 0
                shared.statistics[partition].evictedBytes =
                    (shared.evictedBefore[partition] ?? 0) + (evicted[partition] ?? 0)
            }
        }
    }
}
