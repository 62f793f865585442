/// The tables of the file, and the numbers that identify it.
enum DiskSchema {
    /// "Alul"; stands in the file's header.
    static let applicationID = 0x416C_756C
    /// Changes with the statements below, and with the fields that a checksum covers.
    static let version = 1

    /// Bodies have a table of their own: a change in a row would rewrite all of its pages, and recency changes with
    /// every read.
    static let statements = [
        "CREATE TABLE entry(id INTEGER PRIMARY KEY, share INTEGER NOT NULL, name BLOB NOT NULL, source BLOB NOT NULL,"
            + " used INTEGER NOT NULL, cost INTEGER NOT NULL, head BLOB NOT NULL, checksum BLOB NOT NULL) STRICT",
        "CREATE UNIQUE INDEX entry_name ON entry(share, name)",
        "CREATE INDEX entry_source ON entry(source)",
        // Holds the cost as well: usage is summed up at the start without touching the rows.
        "CREATE INDEX entry_used ON entry(share, used, cost)",
        "CREATE TABLE body(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
        "CREATE TABLE note(name BLOB PRIMARY KEY, bytes BLOB NOT NULL, checksum BLOB NOT NULL) STRICT",
    ]
}
