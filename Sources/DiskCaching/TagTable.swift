import Memory

/// The labels of the sources with a tag.
package struct TaggedLabels: Sendable {
    package var labels: [String] = []
    /// False if there are more sources.
    package var isComplete = false

    package init(isComplete: Bool = false) { self.isComplete = isComplete }
}

/// The sources of each tag, for purges; used by the store's thread.
///
/// If there is too little space for the tags of a source, it is removed, so that every entry can be purged by its tags.
final class TagTable {
    /// The size in the file of one tag of a source, with its index entries.
    private static let rowCost = 256

    private let connection: SQLiteConnection
    var capacity: Int
    private let insert: SQLiteStatement
    private let insertName: SQLiteStatement
    private let selectNames: SQLiteStatement
    private let selectOne: SQLiteStatement
    private let selectOldest: SQLiteStatement
    private let selectLength: SQLiteStatement
    private let delete: SQLiteStatement
    private let deleteName: SQLiteStatement
    private(set) var usage = 0

    /// The number of rows deleted at once when there are too many.
    private static let step = 8
    private static let maximumNames = (count: 100_000, bytes: 8 << 20)

    init(_ connection: SQLiteConnection, capacity: Int) throws(SQLiteError) {
        self.connection = connection
        self.capacity = capacity
        insert = try connection.prepare("INSERT OR IGNORE INTO tag(tag, source, checksum) VALUES(?, ?, ?)")
        insertName = try connection.prepare("INSERT OR IGNORE INTO tagged(source, name, checksum) VALUES(?, ?, ?)")
        selectNames = try connection.prepare(
            "SELECT tag.source, name, tag.checksum, tagged.checksum FROM tag JOIN tagged USING(source) WHERE tag = ?")
        selectOne = try connection.prepare("SELECT 1 FROM tag WHERE tag = ? AND source = ?")
        selectOldest = try connection.prepare("SELECT source FROM tag ORDER BY id LIMIT \(Self.step)")
        delete = try connection.prepare("DELETE FROM tag WHERE source = ?")
        deleteName = try connection.prepare("DELETE FROM tagged WHERE source = ?")
        selectLength = try connection.prepare("SELECT length(name) FROM tagged WHERE source = ?")
        try connection.prepare("SELECT count(*) FROM tag").run { row throws(SQLiteError) in
            usage += Self.rowCost * row.int(0)
        }
        try connection.prepare("SELECT length(name), count(*) FROM tagged GROUP BY 1").run { row throws(SQLiteError) in
            usage += Self.cost(nameLength: row.int(0)) * row.int(1)
        }
    }

    /// Records tags; returns the sources to remove because there is too little space for their tags.
    func recordTags(_ tags: [[UInt8]], of source: [UInt8], name: [UInt8]) throws(SQLiteError) -> [[UInt8]] {
        var added = 0
        let dropped = try connection.transaction { () throws(SQLiteError) in
            try insertName.run([.blob(source), .blob(name), .blob(Self.checksum(source, name))])
            added += connection.changedRows * Self.cost(nameLength: name.count)
            for tag in tags {
                try insert.run([.blob(tag), .blob(source), .blob(Self.checksum(tag, source))])
                added += connection.changedRows * Self.rowCost
            }
            var removed: Set<[UInt8]> = []
            while usage + added > capacity {
                var oldest: Set<[UInt8]> = []
                try selectOldest.run { row throws(SQLiteError) in oldest.insert(row.bytes(0).array) }
                guard !oldest.isEmpty else { break }
                for source in oldest { added -= try removeRows(source) }
                removed.formUnion(oldest)
            }
            return Array(removed)
        }
        usage += added
        return dropped
    }

    func contains(_ tags: [[UInt8]], of source: [UInt8]) throws(SQLiteError) -> Bool {
        for tag in tags {
            var isKnown = false
            try selectOne.run([.blob(tag), .blob(source)]) { row throws(SQLiteError) in isKnown = true }
            guard isKnown else { return false }
        }
        return true
    }

    func labels(under tag: [UInt8]) throws(SQLiteError) -> TaggedLabels {
        var tagged = TaggedLabels(isComplete: true)
        var count = 0
        var bytes = 0
        try selectNames.run([.blob(tag)]) { row throws(SQLiteError) in
            guard count < Self.maximumNames.count, bytes < Self.maximumNames.bytes else {
                tagged.isComplete = false
                return
            }
            let name = row.bytes(1).array
            count += 1
            bytes += name.count
            let source = row.bytes(0).array
            guard Self.checksum(tag, source) == row.bytes(2).array, Self.checksum(source, name) == row.bytes(3).array
            else {
                throw .damaged("a tag that was not written")
            }
            if let label = String(validating: name, as: UTF8.self) { tagged.labels.append(label) }
        }
        return tagged
    }

    func remove(_ source: [UInt8]) throws(SQLiteError) { usage -= try removeRows(source) }

    private func removeRows(_ source: [UInt8]) throws(SQLiteError) -> Int {
        var cost = 0
        try selectLength.run([.blob(source)]) { row throws(SQLiteError) in
            cost += Self.cost(nameLength: row.int(0))
        }
        try delete.run([.blob(source)])
        cost += connection.changedRows * Self.rowCost
        try deleteName.run([.blob(source)])
        return cost
    }

    /// Returns the size in the file: table leaves are two thirds full, and a row over half a page takes a whole leaf.
    private static func cost(nameLength: Int) -> Int {
        let row = nameLength + 128
        return row <= 2_048 ? row * 3 / 2 : (row + 4_095) & ~4_095
    }

    private static func checksum(_ columns: [UInt8]...) -> [UInt8] {
        var sum = Checksum()
        for column in columns { sum.add(column) }
        return sum.finish()
    }
}
