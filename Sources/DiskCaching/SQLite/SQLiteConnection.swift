import CSQLite
import Glibc

/// A connection to the file, used by one thread at a time.
@safe
final class SQLiteConnection {
    private let raw: OpaquePointer

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

    deinit { unsafe sqlite3_close_v2(raw) }

    func execute(_ sql: String) throws(SQLiteError) { try check(unsafe sqlite3_exec(raw, sql, nil, nil, nil)) }

    func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        var statement: OpaquePointer?
        try check(unsafe sqlite3_prepare_v3(raw, sql, -1, CUnsignedInt(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement = unsafe statement else { throw .damaged("an empty statement") }
        return unsafe SQLiteStatement(statement, of: self)
    }

    func transaction<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // After some failures SQLite has already rolled back, so ignore errors.
            _ = unsafe sqlite3_exec(raw, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }

    var isReadOnly: Bool { unsafe sqlite3_db_readonly(raw, "main") == 1 }

    var lastInsertedRow: Int { Int(unsafe sqlite3_last_insert_rowid(raw)) }

    var changedRows: Int { Int(unsafe sqlite3_changes64(raw)) }

    func check(_ code: CInt) throws(SQLiteError) {
        guard code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE else {
            throw SQLiteError(
                code: code, message: unsafe String(cString: sqlite3_errmsg(raw)),
                systemError: unsafe sqlite3_system_errno(raw))
        }
    }
}

struct SQLiteError: Error, Equatable {
    enum Kind: String {
        /// The file is not a database, belongs to another program, or has inconsistent pages.
        case damaged
        case full
        case inUse
        case unusable
    }

    /// `SQLITE_IOERR_WRITE`, a macro not imported into Swift.
    private static let failedWrite = SQLITE_IOERR | 3 << 8
    static let full = SQLiteError(code: SQLITE_FULL, message: "the disk is full")

    let code: CInt
    let message: String
    var systemError: CInt = 0

    var kind: Kind {
        switch code & 0xff {
        // SQLite detects a full disk only by ENOSPC, and often omits the system's error for writes.
        case SQLITE_IOERR, SQLITE_CANTOPEN:
            [ENOSPC, EDQUOT, EFBIG].contains(systemError) || code == Self.failedWrite && systemError == 0
                ? .full : .unusable
        // Our statements match our schema, so a compile error or a value of another type is the file's fault.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_FORMAT, SQLITE_MISMATCH, SQLITE_CONSTRAINT: .damaged
        case SQLITE_FULL: .full
        case SQLITE_BUSY, SQLITE_LOCKED: .inUse
        default: .unusable
        }
    }

    /// An error for a file whose content this version did not write.
    static func damaged(_ message: String) -> SQLiteError { SQLiteError(code: SQLITE_CORRUPT, message: message) }
}

extension SQLiteError: CustomStringConvertible {
    var description: String { "\(message) (SQLite \(code)\(systemError == 0 ? "" : ", system error \(systemError)"))" }
}
