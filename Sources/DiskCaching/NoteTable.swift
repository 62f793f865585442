import Memory

/// Small texts under names, kept until they are removed; used by the store's thread.
final class NoteTable {
    private let connection: SQLiteConnection
    private let select: SQLiteStatement
    private let replace: SQLiteStatement
    private let delete: SQLiteStatement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        self.connection = connection
        select = try connection.prepare("SELECT name, bytes, checksum FROM note ORDER BY name")
        replace = try connection.prepare("INSERT OR REPLACE INTO note(name, bytes, checksum) VALUES(?, ?, ?)")
        delete = try connection.prepare("DELETE FROM note WHERE name = ?")
    }

    /// All notes that are intact, by name.
    func all() throws(SQLiteError) -> [DiskNote] {
        var notes: [DiskNote] = []
        try select.run { row throws(SQLiteError) in
            let note = DiskNote(name: row.bytes(0).array, bytes: row.bytes(1).array)
            if note.checksum == row.bytes(2).array { notes.append(note) }
        }
        return notes
    }

    /// Keeps a note in place of one of its name.
    func keep(_ note: DiskNote) throws(SQLiteError) {
        try replace.run([.blob(note.name), .blob(note.bytes), .blob(note.checksum)])
    }

    /// Removes the note of this name.
    func remove(name: [UInt8]) throws(SQLiteError) {
        try delete.run([.blob(name)])
    }
}

/// A text under a name.
package struct DiskNote: Sendable, Equatable {
    /// The name.
    package let name: [UInt8]
    /// The text.
    package let bytes: [UInt8]

    /// A note of this name.
    package init(name: [UInt8], bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    fileprivate var checksum: [UInt8] {
        var sum = Checksum()
        sum.add(name)
        sum.add(bytes)
        return sum.finish()
    }
}
