import CSQLite
import Memory

enum SQLiteValue {
    case int(Int)
    case bytes(SharedBytes)

    /// A blob that is small enough to copy.
    static func blob(_ bytes: [UInt8]) -> SQLiteValue { .bytes(SharedBytes(bytes)) }
}

/// A prepared statement, used by its connection's thread.
@safe
final class SQLiteStatement {
    /// A row, valid only inside the closure that receives it.
    @safe
    struct Row {
        fileprivate let raw: OpaquePointer

        /// Returns 0 if the column has another type.
        func int(_ column: Int) -> Int { Int(unsafe sqlite3_column_int64(raw, CInt(column))) }

        /// Returns no bytes if the column has another type.
        func bytes(_ column: Int) -> SharedBytes {
            var accumulator = ByteAccumulator(reservingCapacity: count(column))
            unsafe accumulator.append(
                UnsafeRawBufferPointer(start: sqlite3_column_blob(raw, CInt(column)), count: count(column)))
            return accumulator.finish()
        }

        private func count(_ column: Int) -> Int {
            // Get the pointer first: SQLite may convert the value, and the size is valid only afterward.
            guard unsafe sqlite3_column_blob(raw, CInt(column)) != nil else { return 0 }
            return Int(unsafe sqlite3_column_bytes(raw, CInt(column)))
        }
    }

    private let raw: OpaquePointer
    private let connection: SQLiteConnection

    @unsafe
    init(_ raw: OpaquePointer, of connection: SQLiteConnection) {
        unsafe self.raw = raw
        self.connection = connection
    }

    deinit { unsafe sqlite3_finalize(raw) }

    func run(
        _ values: [SQLiteValue] = [], each body: (Row) throws(SQLiteError) -> Void = { _ in }
    ) throws(SQLiteError) {
        defer {
            unsafe sqlite3_reset(raw)
            unsafe sqlite3_clear_bindings(raw)
            // Keep the borrowed blobs alive until here.
            withExtendedLifetime(values) {}
        }
        for (index, value) in values.enumerated() { try bind(value, at: CInt(index + 1)) }
        while true {
            let code = unsafe sqlite3_step(raw)
            try connection.check(code)
            guard code == SQLITE_ROW else { return }
            try body(unsafe Row(raw: raw))
        }
    }

    private func bind(_ value: SQLiteValue, at index: CInt) throws(SQLiteError) {
        let code =
            switch value {
            case .int(let number): unsafe sqlite3_bind_int64(raw, index, sqlite3_int64(number))
            // An empty block has no address, and would be bound as NULL.
            case .bytes(let bytes) where bytes.count == 0: unsafe sqlite3_bind_zeroblob(raw, index, 0)
            case .bytes(let bytes):
                // No destructor, because the bytes stay in place until the statement is reset.
                unsafe bytes.withUnsafeBytes {
                    unsafe sqlite3_bind_blob64(raw, index, $0.baseAddress, sqlite3_uint64($0.count), nil)
                }
            }
        try connection.check(code)
    }
}
