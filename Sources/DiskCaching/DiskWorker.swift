import Coordination
import Telemetry

/// The open file and the handling of its failures.
///
/// Unchecked, because only the store's thread uses it after it is made; other threads read values under the store's
/// lock.
final class DiskWorker: @unchecked Sendable {
    private let folder: DiskFolder
    private let configuration: DiskStoreConfiguration
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let shared: Locked<DiskStore.Shared>
    private var database: DiskDatabase?

    /// Opens the file.
    init(
        _ configuration: DiskStoreConfiguration, shared: Locked<DiskStore.Shared>, logger: Logger,
        timekeeper: any Timekeeper
    ) throws(DiskStoreError) {
        folder = DiskFolder(path: configuration.folder)
        self.configuration = configuration
        self.shared = shared
        self.logger = logger
        self.timekeeper = timekeeper
        database = try open()
        publish()
    }

    /// Does due removals and then `body`; nil when the file is not in use, or failed.
    @discardableResult
    func perform<Value>(_ body: (DiskDatabase) throws(SQLiteError) -> Value) -> Value? {
        guard let database = usableDatabase() else { return nil }
        defer { publish() }
        do {
            return try body(try settled(database))
        } catch {
            fail(error)
            return nil
        }
    }

    /// Does due removals and then `body`; nil also if the disk has no room: notes never cost entries.
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

    /// Does due removals and then removes everything made from a source; returns what was removed.
    func removeAll(from source: [UInt8]) -> DiskUsage {
        perform { database throws(SQLiteError) in try Self.removeAll(from: source, in: database) } ?? DiskUsage()
    }

    private static func removeAll(
        from source: [UInt8], in database: DiskDatabase
    ) throws(SQLiteError) -> DiskUsage {
        try database.tags.remove(source)
        return try database.entries.removeAll(from: source)
    }

    /// Notes tags of a source; if there is no room, the source is removed.
    func note(_ tags: [[UInt8]], of source: [UInt8], name: [UInt8]) {
        perform { database throws(SQLiteError) in
            do throws(SQLiteError) {
                for source in try database.tags.note(tags, of: source, name: name) {
                    _ = try database.entries.removeAll(from: source)
                }
            } catch  where error.kind == .full {
                _ = try Self.removeAll(from: source, in: database)
            }
        }
    }

    /// Begins a new file with the notes of the old one; returns what the old one held.
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

    /// Writes values that are only in memory, and closes the file.
    func close() {
        _ = perform { database throws(SQLiteError) in try database.entries.writeOrder() }
        database = nil
    }

    /// Damaged entries are counted here, whole files in ``fail(_:)``.
    func countDamagedEntry() {
        shared.withLock { $0.statistics.damagedEntries += 1 }
    }

    private func settled(_ database: DiskDatabase) throws(SQLiteError) -> DiskDatabase {
        let due = shared.withLock { $0.changes.takeRemovals() }
        guard !due.isNothing else { return database }
        if due.isEverything {
            _ = try empty(database)
            guard let emptied = self.database else { throw .damaged("the emptied file is gone") }
            return emptied
        }
        for source in due.sources { _ = try Self.removeAll(from: source, in: database) }
        for key in due.keys { try database.entries.remove(key) }
        return database
    }

    /// Deleting the file takes no time, whatever its size, and gives the room back.
    private func empty(_ old: DiskDatabase) throws(SQLiteError) -> DiskUsage {
        let notes = try old.notes.all()
        let removed = old.entries.usage.values.reduce(into: DiskUsage()) { total, usage in
            total.bytes += usage.bytes
            total.entries += usage.entries
        }
        keepEvicted(of: old)
        database = nil
        guard folder.discard() else { throw SQLiteError(code: 10, message: "the file cannot be deleted") }
        do {
            let (new, _) = try DiskDatabase.open(folder, configuration)
            _ = try new.notes.keep(notes)
            database = new
        } catch let error as SQLiteError {
            throw error
        } catch {
            throw SQLiteError(code: 10, message: "\(error)")
        }
        return removed
    }

    /// The file, opened again if it is not open, or no longer the one in the folder.
    private func usableDatabase() -> DiskDatabase? {
        let isLost = database.map { !folder.holds($0.files) } ?? false
        if let database {
            guard isLost else { return database }
            keepEvicted(of: database)
            logger.warning("disk cache file gone or replaced")
            shared.withLock { $0.statistics.lostFiles += 1 }
        }
        database = nil
        let now = timekeeper.now
        guard shared.withLock({ $0.health.mayTry(at: now) && !$0.isClosed }) else { return nil }
        do {
            database = try openEmpty()
            if !isLost {
                shared.withLock { $0.health.recover(at: now) }
                logger.info("disk cache in use again")
            }
        } catch {
            if isLost { doWithout("\(error)") } else { shared.withLock { $0.health.fail(at: now) } }
        }
        return database
    }

    /// Opens the file and empties it: it does not know what was removed meanwhile.
    private func openEmpty() throws(DiskStoreError) -> DiskDatabase {
        do throws(DiskStoreError) {
            let (database, state) = try DiskDatabase.open(folder, configuration)
            if state != .known {
                _ = shared.withLock { $0.changes.takeRemovals() }
                return database
            }
        } catch {
            // Another process's file must not be deleted; deleting any other removes its fault.
            if error == .inUse { throw error }
        }
        guard folder.discard() else { throw .unusable(reason: "the file cannot be deleted") }
        _ = shared.withLock { $0.changes.takeRemovals() }
        return try open()
    }

    private func open() throws(DiskStoreError) -> DiskDatabase {
        let (database, state) = try DiskDatabase.open(folder, configuration)
        if state == .emptied || state == .setAside {
            logger.warning("disk cache file not usable", ["outcome": .string(state.rawValue)])
            shared.withLock { $0.statistics.damagedFiles += 1 }
        }
        return database
    }

    /// Replaces a damaged file at once; after any other failure deletes the file and does without one for a while.
    ///
    /// A file that cannot be written would soon be out of date.
    private func fail(_ error: SQLiteError) {
        if let database { keepEvicted(of: database) }
        database = nil
        let isDeleted = folder.discard()
        if error.kind == .damaged, isDeleted, let fresh = try? open() {
            logger.warning("disk cache file damaged", ["detail": .string("\(error)"), "outcome": "emptied"])
            shared.withLock { $0.statistics.damagedFiles += 1 }
            database = fresh
            return
        }
        doWithout("\(error)")
    }

    private func doWithout(_ detail: String) {
        let now = timekeeper.now
        shared.withLock { shared in
            shared.statistics.failures += 1
            shared.health.fail(at: now)
        }
        logger.error("disk cache out of use", ["detail": .string(detail)])
    }

    private func keepEvicted(of database: DiskDatabase) {
        shared.withLock { shared in
            for (share, bytes) in database.entries.evictedBytes { shared.evictedBefore[share, default: 0] += bytes }
        }
    }

    /// Makes the sums visible to others.
    private func publish() {
        let usage = database?.entries.usage ?? [:]
        let evicted = database?.entries.evictedBytes ?? [:]
        let (noteUsage, tagUsage) = (database?.notes.usage ?? 0, database?.tags.usage ?? 0)
        shared.withLock { shared in
            shared.statistics.noteUsage = noteUsage
            shared.statistics.tagUsage = tagUsage
            for share in DiskShare.allCases {
                shared.statistics[share].usage = usage[share]?.bytes ?? 0
                shared.statistics[share].entries = usage[share]?.entries ?? 0
                shared.statistics[share].evictedBytes = (shared.evictedBefore[share] ?? 0) + (evicted[share] ?? 0)
            }
        }
    }
}

/// When a store that failed may try its file again: later after each failure that follows soon on the one before.
struct DiskHealth {
    private let first: Duration
    private let longest: Duration
    private var delay: Duration
    private var retryAt: Duration?
    private var lastRecovery: Duration?

    init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        delay = first
    }

    /// Whether the file is in use.
    var isWorking: Bool { retryAt == nil }

    /// Whether the file may be used, or tried again, at `now`.
    func mayTry(at now: Duration) -> Bool { retryAt.map { $0 <= now } ?? true }

    /// Notes that the file failed.
    mutating func fail(at now: Duration) {
        if retryAt == nil {
            let isLongAgo = lastRecovery.map { now - $0 > longest } ?? true
            delay = isLongAgo ? first : min(delay * 2, longest)
        } else {
            delay = min(delay * 2, longest)
        }
        retryAt = now + delay
    }

    /// The file is in use again.
    mutating func recover(at now: Duration) {
        retryAt = nil
        lastRecovery = now
    }
}
