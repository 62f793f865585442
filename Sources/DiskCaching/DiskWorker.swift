import Coordination
import Telemetry

/// The open file and what is done when it fails.
///
/// Unchecked, because it is used by the store's one thread alone once it is made; what others see is under the store's lock.
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

    /// Does what is owed and then `body`; nil when the file is done without, or failed.
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

    /// Does what is owed and then `body`; nil also where the disk has no room for what it wants: notes cost the entries nothing.
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

    /// Does what is owed and then removes all made from a source; what it was.
    func removeAll(from source: [UInt8]) -> EntryTable.Usage {
        perform { database throws(SQLiteError) in try database.entries.removeAll(from: source) } ?? EntryTable.Usage()
    }

    /// Begins a new file with the notes of the old one; what was in that.
    func removeEverything() -> EntryTable.Usage {
        _ = shared.withLock { $0.debts.settle() }
        guard let database = usableDatabase() else { return EntryTable.Usage() }
        defer { publish() }
        do {
            return try empty(database)
        } catch {
            fail(error)
            return EntryTable.Usage()
        }
    }

    /// Writes down what is only remembered, and closes the file.
    func close() {
        _ = perform { database throws(SQLiteError) in try database.entries.writeOrder() }
        database = nil
    }

    /// Damaged entries are counted here, whole files in ``fail(_:)``.
    func countDamagedEntry() {
        shared.withLock { $0.statistics.damagedEntries += 1 }
    }

    private func settled(_ database: DiskDatabase) throws(SQLiteError) -> DiskDatabase {
        let due = shared.withLock { $0.debts.settle() }
        guard !due.isNothing else { return database }
        if due.isEverything {
            _ = try empty(database)
            guard let emptied = self.database else { throw .damaged("the emptied file is gone") }
            return emptied
        }
        for source in due.sources { _ = try database.entries.removeAll(from: source) }
        for key in due.keys { try database.entries.remove(key) }
        return database
    }

    /// Deleting the file takes no time, whatever its size, and gives the room back.
    private func empty(_ old: DiskDatabase) throws(SQLiteError) -> EntryTable.Usage {
        let notes = try old.notes.all()
        let removed = old.entries.usage.values.reduce(into: EntryTable.Usage()) { total, usage in
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

    /// The file, opened anew where it is not open, or not the one any more that stands in the folder.
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

    /// Opens the file without what is in it: nobody has told that what was removed in the meantime.
    private func openEmpty() throws(DiskStoreError) -> DiskDatabase {
        do throws(DiskStoreError) {
            let (database, finding) = try DiskDatabase.open(folder, configuration)
            if finding != .known {
                _ = shared.withLock { $0.debts.settle() }
                return database
            }
        } catch {
            // Another process's file is not ours to delete; with any other goes what is wrong with it.
            if error == .inUse { throw error }
        }
        guard folder.discard() else { throw .unusable(reason: "the file cannot be deleted") }
        _ = shared.withLock { $0.debts.settle() }
        return try open()
    }

    private func open() throws(DiskStoreError) -> DiskDatabase {
        let (database, finding) = try DiskDatabase.open(folder, configuration)
        if finding == .emptied || finding == .setAside {
            logger.warning("disk cache file not usable", ["outcome": .string(finding.rawValue)])
            shared.withLock { $0.statistics.damagedFiles += 1 }
        }
        return database
    }

    /// A damaged file is begun anew at once; any other failure ends the use of the file for a while, and the file with it: what may
    /// not be written any more would soon be out of date.
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
        logger.error("disk cache done without", ["detail": .string(detail)])
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
        let noteUsage = database?.notes.usage ?? 0
        shared.withLock { shared in
            shared.statistics.noteUsage = noteUsage
            for share in DiskShare.allCases {
                shared.statistics.shares[share, default: DiskShareStatistics()].usage = usage[share]?.bytes ?? 0
                shared.statistics.shares[share, default: DiskShareStatistics()].entries = usage[share]?.entries ?? 0
                shared.statistics.shares[share, default: DiskShareStatistics()].evictedBytes =
                    (shared.evictedBefore[share] ?? 0) + (evicted[share] ?? 0)
            }
        }
    }
}
