import Memory

/// Small named texts with their own capacity, kept until they are removed; used only by the `disk` thread.
final class NoteTable {
    private let connection: SQLiteConnection
    private let capacity: Int
    private let select: SQLiteStatement
    private let selectCost: SQLiteStatement
    private let replace: SQLiteStatement
    private let update: SQLiteStatement
    private let delete: SQLiteStatement
    private(set) var usage = 0

    init(_ connection: SQLiteConnection, capacity: Int) throws(SQLiteError) {
        self.connection = connection
        self.capacity = capacity
        select = try connection.prepare("SELECT name, bytes, checksum FROM note ORDER BY name")
        selectCost = try connection.prepare("SELECT length(name) + length(bytes) FROM note WHERE name = ?")
        replace = try connection.prepare("INSERT OR REPLACE INTO note(name, bytes, checksum) VALUES(?, ?, ?)")
        update = try connection.prepare("UPDATE note SET bytes = ?, checksum = ? WHERE name = ?")
        delete = try connection.prepare("DELETE FROM note WHERE name = ?")
        try connection.prepare("SELECT length(name) + length(bytes) FROM note").run { row throws(SQLiteError) in
            usage += CacheValue.cost(of: row.int(0))
        }
    }

    func all() throws(SQLiteError) -> [DiskNote] {
        var notes: [DiskNote] = []
        try select.run { row throws(SQLiteError) in
            let note = DiskNote(name: row.bytes(0).array, bytes: row.bytes(1).array)
            if note.checksum == row.bytes(2).array { notes.append(note) }
        }
        return notes
    }

    /// Stores all notes, or none if there is too little space; returns whether they are stored.
    func store(_ notes: [DiskNote]) throws(SQLiteError) -> Bool {
        var newUsage = usage
        for note in notes { newUsage += note.cost - (try cost(of: note.name)) }
        guard newUsage <= capacity else { return false }
        try connection.transaction { () throws(SQLiteError) in
            for note in notes { try replace.run([.blob(note.name), .blob(note.bytes), .blob(note.checksum)]) }
        }
        usage = newUsage
        return true
    }

    /// Replaces a note of the same name and length; does nothing if there is none.
    func replace(_ note: DiskNote) throws(SQLiteError) {
        guard try cost(of: note.name) == note.cost else { return }
        try update.run([.blob(note.bytes), .blob(note.checksum), .blob(note.name)])
    }

    func remove(_ names: [[UInt8]]) throws(SQLiteError) {
        var newUsage = usage
        for name in names { newUsage -= try cost(of: name) }
        try connection.transaction { () throws(SQLiteError) in
            for name in names { try delete.run([.blob(name)]) }
        }
        usage = newUsage
    }

    /// Returns the size of a note; 0 if it does not exist.
    private func cost(of name: [UInt8]) throws(SQLiteError) -> Int {
        var cost = 0
        try selectCost.run([.blob(name)]) { row throws(SQLiteError) in cost = CacheValue.cost(of: row.int(0)) }
        return cost
    }
}

package struct DiskNote: Sendable, Equatable {
    package let name: [UInt8]
    package let bytes: [UInt8]

    package init(name: [UInt8], bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    var cost: Int { CacheValue.cost(of: name.count + bytes.count) }

    var checksum: [UInt8] {
        var sum = Checksum()
        sum.add(name)
        sum.add(bytes)
        return sum.finish()
    }
}
