import CSQLite

/// A call of SQLite that failed.
struct SQLiteError: Error, Equatable {
    /// The meaning of a failure for its file.
    enum Kind: String {
        /// The file is not a database, not ours, or its pages contradict each other.
        case damaged
        /// No room, on the disk or within the file's bound.
        case full
        /// Another process has it open.
        case inUse
        /// It cannot be opened, read or written.
        case unusable
    }

    /// The extended result code.
    let code: CInt
    /// SQLite's own words, for logs.
    let message: String

    var kind: Kind {
        switch code & 0xff {
        // Our statements fit our schema: one that fails to compile, or a value of another type, is the file's fault.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_FORMAT, SQLITE_MISMATCH, SQLITE_CONSTRAINT: .damaged
        case SQLITE_FULL: .full
        case SQLITE_BUSY, SQLITE_LOCKED: .inUse
        default: .unusable
        }
    }

    /// The file's content is not what this version writes.
    static func damaged(_ message: String) -> SQLiteError { SQLiteError(code: SQLITE_CORRUPT, message: message) }
}

extension SQLiteError: CustomStringConvertible {
    var description: String { "\(message) (SQLite \(code))" }
}
