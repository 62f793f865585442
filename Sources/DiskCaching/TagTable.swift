import Memory

/// The tags under which sources were asked for, so that all of them can be removed; used by the store's thread.
///
/// If there is no room for the tags of a source, it is removed: nothing stays that its tags cannot find.
final class TagTable {
    private let connection: SQLiteConnection
    private let capacity: Int
    private let insert: SQLiteStatement
    private let selectNames: SQLiteStatement
    private let selectOldest: SQLiteStatement
    private let delete: SQLiteStatement
    private var rows = 0

    /// Rows that are deleted at once when there are too many.
    private static let step = 64

    /// - Parameter capacity: Most rows.
    init(_ connection: SQLiteConnection, capacity: Int) throws(SQLiteError) {
        self.connection = connection
        self.capacity = capacity
        insert = try connection.prepare(
            "INSERT OR IGNORE INTO tag(tag, source, name, checksum) VALUES(?, ?, ?, ?)")
        selectNames = try connection.prepare("SELECT source, name, checksum FROM tag WHERE tag = ?")
        selectOldest = try connection.prepare("SELECT source FROM tag ORDER BY id LIMIT \(Self.step)")
        delete = try connection.prepare("DELETE FROM tag WHERE source = ?")
        try connection.prepare("SELECT count(*) FROM tag").run { row throws(SQLiteError) in rows = row.int(0) }
    }

    /// Notes tags of a source; returns the sources that are to be removed, because there is no room for their tags.
    func note(_ tags: [[UInt8]], of source: [UInt8], name: [UInt8]) throws(SQLiteError) -> [[UInt8]] {
        try connection.transaction { () throws(SQLiteError) in
            for tag in tags {
                try insert.run([
                    .blob(tag), .blob(source), .blob(name), .blob(Self.checksum(tag, source, name)),
                ])
                rows += connection.changedRows
            }
            guard rows > capacity else { return [] }
            var oldest: Set<[UInt8]> = []
            try selectOldest.run { row throws(SQLiteError) in oldest.insert(row.bytes(0).array) }
            for source in oldest { try remove(source) }
            return Array(oldest)
        }
    }

    /// The names of the sources under a tag.
    func names(under tag: [UInt8]) throws(SQLiteError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        try selectNames.run([.blob(tag)]) { row throws(SQLiteError) in
            let name = row.bytes(1).array
            guard Self.checksum(tag, row.bytes(0).array, name) == row.bytes(2).array else {
                throw .damaged("a tag that was not written")
            }
            names.append(name)
        }
        return names
    }

    /// Forgets the tags of a source.
    func remove(_ source: [UInt8]) throws(SQLiteError) {
        try delete.run([.blob(source)])
        rows -= connection.changedRows
    }

    private static func checksum(_ parts: [UInt8]...) -> [UInt8] {
        var sum = Checksum()
        for part in parts { sum.add(part) }
        return sum.finish()
    }
}
