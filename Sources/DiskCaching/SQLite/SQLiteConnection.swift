import CSQLite
import Glibc

/// One connection to one database file; used by one thread at a time.
@safe
final class SQLiteConnection {
    private let raw: OpaquePointer

    /// Opens the file at `path`, and makes it if it is missing.
    init(path: String) throws(SQLiteError) {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            let message = unsafe String(cString: sqlite3_errstr(code))
            let systemError = unsafe sqlite3_system_errno(handle)
            unsafe sqlite3_close_v2(handle)
            throw SQLiteError(code: code, message: message, systemError: systemError)
        }
        unsafe raw = handle
    }

    deinit {
        unsafe sqlite3_close_v2(raw)
    }

    /// Runs statements without results.
    func execute(_ sql: String) throws(SQLiteError) {
        try check(unsafe sqlite3_exec(raw, sql, nil, nil, nil))
    }

    /// A statement that is compiled once and run many times.
    func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        var statement: OpaquePointer?
        try check(
            unsafe sqlite3_prepare_v3(raw, sql, -1, CUnsignedInt(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement = unsafe statement else { throw .damaged("an empty statement") }
        return unsafe SQLiteStatement(statement, of: self)
    }

    /// Runs `body` as one transaction: all of it is kept, or nothing.
    func transaction<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // After some failures SQLite has already rolled back, so an error here has no meaning.
            _ = unsafe sqlite3_exec(raw, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }

    /// Whether the file may only be read.
    var isReadOnly: Bool { unsafe sqlite3_db_readonly(raw, "main") == 1 }

    /// The row that was inserted last.
    var lastInsertedRow: Int { Int(unsafe sqlite3_last_insert_rowid(raw)) }

    /// Rows that the last statement changed.
    var changedRows: Int { Int(unsafe sqlite3_changes64(raw)) }

    /// Throws the error of `code`, unless it is success.
    func check(_ code: CInt) throws(SQLiteError) {
        guard code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE else {
            throw SQLiteError(
                code: code, message: unsafe String(cString: sqlite3_errmsg(raw)),
                systemError: unsafe sqlite3_system_errno(raw))
        }
    }
}

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
    /// The system's error; 0 if there was none.
    var systemError: CInt = 0

    var kind: Kind {
        switch code & 0xff {
        // SQLite knows a full disk by ENOSPC alone, and for writes it often does not say the system's error.
        case SQLITE_IOERR, SQLITE_CANTOPEN:
            [ENOSPC, EDQUOT, EFBIG].contains(systemError) || code == Self.failedWrite && systemError == 0
                ? .full : .unusable
        // Our statements fit our schema: one that fails to compile, or a value of another type, is the file's fault.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_FORMAT, SQLITE_MISMATCH, SQLITE_CONSTRAINT: .damaged
        case SQLITE_FULL: .full
        case SQLITE_BUSY, SQLITE_LOCKED: .inUse
        default: .unusable
        }
    }

    /// `SQLITE_IOERR_WRITE`, a macro that Swift does not see.
    private static let failedWrite = SQLITE_IOERR | 3 << 8

    /// There is no room.
    static let full = SQLiteError(code: SQLITE_FULL, message: "the disk is full")

    /// The file's content is not what this version writes.
    static func damaged(_ message: String) -> SQLiteError { SQLiteError(code: SQLITE_CORRUPT, message: message) }
}

extension SQLiteError: CustomStringConvertible {
    var description: String { "\(message) (SQLite \(code)\(systemError == 0 ? "" : ", system error \(systemError)"))" }
}
