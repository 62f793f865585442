import Memory

struct DiskDatabase {
    /// Tags may take an additional sixteenth of the entries' capacity, within these bounds.
    private static let tagCapacityDivisor = 16
    private static let tagCapacityRange = (256 << 10)...(128 << 20)

    let connection: SQLiteConnection
    let entries: EntryTable
    let notes: NoteTable
    let tags: TagTable
    let files: DiskFolder.Files
    /// Whether the disk was full when the file was opened.
    let isFull: Bool

    enum State: String {
        case new
        case known = "reused"
        /// The file was damaged or from another version, and was emptied.
        case emptied
        /// The file belongs to another program and was renamed.
        case setAside = "set aside"
    }

    static func open(
        _ folder: DiskFolder, configuration: DiskStoreConfiguration
    ) throws(DiskStoreError) -> (database: DiskDatabase, state: State) {
        do {
            let attempt = try Self.attempt(folder, configuration: configuration)
            guard let database = attempt.database else {
                if attempt.state == .setAside { folder.setAside() } else { _ = folder.discard() }
                guard let database = try Self.attempt(folder, configuration: configuration).database else {
                    throw DiskStoreError.unusable(reason: "the file cannot be replaced")
                }
                folder.record(removals: [])
                return (database, attempt.state)
            }
            if attempt.state == .new { folder.record(removals: []) }
            return (database, attempt.state)
        } catch let error as DiskStoreError {
            throw error
        } catch let error as SQLiteError {
            switch error.kind {
            case .inUse: throw .inUse
            case .full: throw .full
            case .damaged, .unusable: throw .unusable(reason: "\(error)")
            }
        } catch {
            throw .unusable(reason: "\(error)")
        }
    }

    /// Opens the file; returns nil if it is unusable.
    private static func attempt(
        _ folder: DiskFolder, configuration: DiskStoreConfiguration
    ) throws -> (database: DiskDatabase?, state: State) {
        try folder.prepare()
        let connection: SQLiteConnection
        let identity: Identity
        do throws(SQLiteError) {
            connection = try SQLiteConnection(path: folder.file)
            // Exclusive use also avoids the shared memory beside the file, which another process could truncate while
            // it is mapped.
            try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            identity = try Identity(connection)
        } catch  where error.kind == .damaged {
            return (nil, .setAside)
        }
        let version = configuration.contentVersion * 1_000 + DiskSchema.version
        if identity == Identity() {
            return (
                try DiskDatabase(
                    connection, folder: folder, configuration: configuration, version: version, isNew: true), .new
            )
        }
        let isOurs = identity.application == DiskSchema.applicationID
        guard isOurs, identity.version == version, identity.statements == DiskSchema.statements else {
            return (nil, isOurs ? .emptied : .setAside)
        }
        guard folder.hasRemovalList else { return (nil, .emptied) }
        do throws(SQLiteError) {
            return (
                try DiskDatabase(
                    connection, folder: folder, configuration: configuration, version: version, isNew: false), .known
            )
        } catch  where error.kind == .damaged {
            return (nil, .emptied)
        }
    }

    private init(
        _ connection: SQLiteConnection, folder: DiskFolder, configuration: DiskStoreConfiguration, version: Int,
        isNew: Bool
    ) throws(SQLiteError) {
        // The folder has already opened the file for writing, so its header must forbid it.
        guard !connection.isReadOnly else { throw .damaged("the header forbids writing") }
        for pragma in [
            // A committed transaction survives a crash of the process, but the last ones may not survive a crash of the
            // machine.
            "journal_mode = WAL", "synchronous = NORMAL", "journal_size_limit = 4194304",
            // Code in a damaged file must not run, and its pages are checked before use.
            "trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY", "cache_size = -4096",
        ] {
            try connection.execute("PRAGMA \(pragma)")
        }
        try Self.setMaximumPages(of: connection, configuration: configuration)
        var isFull = false
        do throws(SQLiteError) {
            try connection.transaction { () throws(SQLiteError) in
                if isNew { for statement in DiskSchema.statements { try connection.execute(statement) } }
                try connection.execute("PRAGMA application_id = \(DiskSchema.applicationID)")
                // Write this at every start, to detect a read-only file immediately.
                try connection.execute("PRAGMA user_version = \(version)")
            }
        } catch  where error.kind == .full && !isNew {
            isFull = true
        }
        self.isFull = isFull
        self.connection = connection
        entries = try EntryTable(connection, capacities: configuration.capacities)
        notes = try NoteTable(connection, capacity: configuration.noteCapacity)
        tags = try TagTable(connection, capacity: Self.tagCapacity(configuration))
        // Read this after the first write, which creates the log.
        files = folder.files
    }

    func setCapacities(_ configuration: DiskStoreConfiguration) throws(SQLiteError) {
        try Self.setMaximumPages(of: connection, configuration: configuration)
        entries.capacities = configuration.capacities
        tags.capacity = Self.tagCapacity(configuration)
    }

    private static func tagCapacity(_ configuration: DiskStoreConfiguration) -> Int {
        min(
            max(configuration.entryCapacity / tagCapacityDivisor, tagCapacityRange.lowerBound),
            tagCapacityRange.upperBound)
    }

    /// Limits the file as a last resort; the partitions reach their own limits first.
    private static func setMaximumPages(
        of connection: SQLiteConnection, configuration: DiskStoreConfiguration
    ) throws(SQLiteError) {
        let capacity = configuration.entryCapacity + configuration.noteCapacity + tagCapacity(configuration)
        try connection.execute("PRAGMA max_page_count = \(capacity / 4_096 * 9 / 8 + 4_096)")
    }
}

extension DiskDatabase {
    private static let probeBytes = 512 << 10

    /// Checks that the file can grow, beyond the free space in its log.
    func checkWriting() throws(SQLiteError) {
        try evictAtFileLimit()
        // No entry has this ID.
        try connection.execute("INSERT OR REPLACE INTO body(id, bytes) VALUES(0, zeroblob(\(Self.probeBytes)))")
        try connection.execute("DELETE FROM body WHERE id = 0")
    }

    /// Evicts entries if the file is near its limit although its partitions are not, due to badly filled pages.
    func evictAtFileLimit() throws(SQLiteError) {
        func number(_ pragma: String) throws(SQLiteError) -> Int {
            var number = 0
            try connection.prepare("PRAGMA \(pragma)").run { row throws(SQLiteError) in number = row.int(0) }
            return number
        }
        let pages = try number("page_count")
        let bound = try number("max_page_count")
        let free = try number("freelist_count")
        if bound - pages + free < bound / 32 { try entries.evictSixteenth() }
    }
}

private struct Identity: Equatable {
    var application = 0
    var version = 0
    var statements: [String] = []
}

extension Identity {
    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        self.init()
        try connection.prepare("PRAGMA application_id").run { row throws(SQLiteError) in application = row.int(0) }
        try connection.prepare("PRAGMA user_version").run { row throws(SQLiteError) in version = row.int(0) }
        let schema = try connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
        try schema.run { row throws(SQLiteError) in
            statements.append(String(decoding: row.bytes(0).array, as: UTF8.self))
        }
    }
}

enum DiskSchema {
    /// The text "Alul".
    static let applicationID = 0x416C_756C
    /// The version of the tables; also changes with the fields that a checksum covers.
    static let version = 3

    /// Bodies have their own table, because changing a row rewrites all its pages, and each read changes recency.
    static let statements = [
        "CREATE TABLE entry(id INTEGER PRIMARY KEY, share INTEGER NOT NULL, name BLOB NOT NULL, source BLOB NOT NULL,"
            + " used INTEGER NOT NULL, cost INTEGER NOT NULL, head BLOB NOT NULL, checksum BLOB NOT NULL) STRICT",
        "CREATE UNIQUE INDEX entry_name ON entry(share, name)", "CREATE INDEX entry_source ON entry(source)",
        // The index includes the cost, so that usage is summed up at startup without reading the rows.
        "CREATE INDEX entry_used ON entry(share, used, cost)",
        "CREATE TABLE body(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
        "CREATE TABLE note(name BLOB PRIMARY KEY, bytes BLOB NOT NULL, checksum BLOB NOT NULL) STRICT",
        "CREATE TABLE tagged(source BLOB PRIMARY KEY, name BLOB NOT NULL, checksum BLOB NOT NULL) STRICT",
        "CREATE TABLE tag(id INTEGER PRIMARY KEY, tag BLOB NOT NULL, source BLOB NOT NULL, checksum BLOB NOT NULL)"
            + " STRICT",
        "CREATE UNIQUE INDEX tag_source ON tag(tag, source)",
        "CREATE INDEX source_tags ON tag(source)",
    ]
}
