import Memory

/// The entries of the file, with their order of use and their usage; used by the store's thread.
final class EntryTable {
    enum StoredEntry {
        case intact(CacheValue)
        case damaged
    }

    private struct Victim {
        let id: Int
        let partition: Int
        let cost: Int
    }

    private let connection: SQLiteConnection
    var capacities: [DiskPartition: Int]
    private let select: SQLiteStatement
    private let insert: SQLiteStatement
    private let insertBody: SQLiteStatement
    private let selectName: SQLiteStatement
    private let selectSource: SQLiteStatement
    private let selectOldest: SQLiteStatement
    private let deleteEntry: SQLiteStatement
    private let deleteBody: SQLiteStatement
    private let touch: SQLiteStatement

    private(set) var usage: [DiskPartition: DiskUsage] = [:]
    private(set) var evictedBytes: [DiskPartition: Int] = [:]
    private var clock = 0
    /// Unwritten positions of entries that were read.
    private var touched: [Int: Int] = [:]
    /// True while the disk is full; the order of use is then not written.
    var isReadOnly = false

    /// The number of entries per transaction that are evicted or reordered.
    private static let step = 32
    /// The maximum number of entries with an unwritten position.
    private static let maximumTouched = 4_096
    private static let maximumBytes = 1 << 56

    init(_ connection: SQLiteConnection, capacities: [DiskPartition: Int]) throws(SQLiteError) {
        self.connection = connection
        self.capacities = capacities
        select = try connection.prepare(
            "SELECT entry.id, head, checksum, bytes FROM entry JOIN body ON body.id = entry.id WHERE share = ? AND name = ?"
        )
        insert = try connection.prepare(
            "INSERT INTO entry(share, name, source, used, cost, head, checksum) VALUES(?, ?, ?, ?, ?, ?, ?)")
        insertBody = try connection.prepare("INSERT OR REPLACE INTO body(id, bytes) VALUES(?, ?)")
        selectName = try connection.prepare("SELECT id, share, cost FROM entry WHERE share = ? AND name = ?")
        selectSource = try connection.prepare("SELECT id, share, cost FROM entry WHERE source = ?")
        selectOldest = try connection.prepare(
            "SELECT id, share, cost FROM entry WHERE share = ? ORDER BY used LIMIT \(Self.step)")
        deleteEntry = try connection.prepare("DELETE FROM entry WHERE id = ?")
        deleteBody = try connection.prepare("DELETE FROM body WHERE id = ?")
        touch = try connection.prepare("UPDATE entry SET used = ? WHERE id = ?")
        try count()
    }

    func entry(for key: DiskKey) throws(SQLiteError) -> StoredEntry? {
        var result: StoredEntry?
        try select.run([.int(key.partition.rawValue), .blob(key.name)]) { row throws(SQLiteError) in
            let entry = CacheValue(head: row.bytes(1).array, body: row.bytes(3))
            if entry.checksum(under: key) == row.bytes(2).array {
                clock += 1
                touched[row.int(0)] = clock
                result = .intact(entry)
            } else {
                result = .damaged
            }
        }
        if touched.count >= Self.step, !isReadOnly { try writeOrder() }
        if touched.count >= Self.maximumTouched { touched = [:] }
        return result
    }

    /// Stores an entry, unless it is larger than its partition.
    func store(_ entry: CacheValue, for key: DiskKey) throws(SQLiteError) {
        let cost = entry.cost
        guard cost <= capacities[key.partition] ?? 0 else {
            try remove(key)
            return
        }
        try evict(toFit: cost, in: key.partition)
        clock += 1
        let used = clock
        try connection.transaction { () throws(SQLiteError) in
            try delete(victims(of: selectName, with: .int(key.partition.rawValue), .blob(key.name)))
            try insert.run([
                .int(key.partition.rawValue), .blob(key.name), .blob(key.source), .int(used), .int(cost),
                .blob(entry.head), .blob(entry.checksum(under: key)),
            ])
            try insertBody.run([.int(connection.lastInsertedRow), .bytes(entry.body)])
            usage[key.partition, default: DiskUsage()].bytes += cost
            usage[key.partition, default: DiskUsage()].entries += 1
        }
    }

    func remove(_ key: DiskKey) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            try delete(victims(of: selectName, with: .int(key.partition.rawValue), .blob(key.name)))
        }
    }

    func removeAll(from source: [UInt8]) throws(SQLiteError) -> DiskUsage {
        try connection.transaction { () throws(SQLiteError) in
            let victims = try victims(of: selectSource, with: .blob(source))
            try delete(victims)
            return DiskUsage(entries: victims.count, bytes: victims.reduce(0) { $0 + $1.cost })
        }
    }

    /// Removes up to one step of the excess over the capacities; returns whether there is more.
    func trim() throws(SQLiteError) -> Bool {
        for (partition, usage) in usage where usage.bytes > capacities[partition] ?? 0 {
            try writeOrder()
            try evictStep(from: partition, downTo: capacities[partition] ?? 0)
            return true
        }
        return false
    }

    func evictSixteenth() throws(SQLiteError) {
        for (partition, usage) in usage { try evict(from: partition, downTo: usage.bytes - usage.bytes / 16) }
    }

    func has(_ source: [UInt8]) throws(SQLiteError) -> Bool {
        try !victims(of: selectSource, with: .blob(source)).isEmpty
    }

    func writeOrder() throws(SQLiteError) {
        guard !touched.isEmpty else { return }
        let positions = touched
        touched = [:]
        try connection.transaction { () throws(SQLiteError) in
            for (id, used) in positions { try touch.run([.int(used), .int(id)]) }
        }
    }

    func count() throws(SQLiteError) {
        var sums: [DiskPartition: DiskUsage] = [:]
        var last = clock
        let statement = try connection.prepare("SELECT share, count(*), sum(cost), max(used) FROM entry GROUP BY share")
        try statement.run { row throws(SQLiteError) in
            guard let partition = DiskPartition(rawValue: row.int(0)), 0...Self.maximumBytes ~= row.int(2),
                row.int(3) < Int.max / 2
            else {
                throw .damaged("impossible sums")
            }
            sums[partition] = DiskUsage(entries: row.int(1), bytes: row.int(2))
            last = max(last, row.int(3))
        }
        usage = sums
        clock = last
    }

    /// Evicts entries until an entry of this cost fits.
    func evict(toFit cost: Int, in partition: DiskPartition) throws(SQLiteError) {
        let target = (capacities[partition] ?? 0) - cost
        guard usage[partition]?.bytes ?? 0 > target else { return }
        try writeOrder()
        try evict(from: partition, downTo: target)
    }

    private func evict(from partition: DiskPartition, downTo target: Int) throws(SQLiteError) {
        while let used = usage[partition]?.bytes, used > target { try evictStep(from: partition, downTo: target) }
    }

    /// Evicts at most one step, and no more than necessary.
    private func evictStep(from partition: DiskPartition, downTo target: Int) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            let oldest = try victims(of: selectOldest, with: .int(partition.rawValue))
            // Usage without entries is wrong; the error makes the caller recount.
            guard !oldest.isEmpty else { throw .damaged("usage without entries") }
            for victim in oldest where usage[partition]?.bytes ?? 0 > target {
                try delete([victim])
                evictedBytes[partition, default: 0] += victim.cost
            }
        }
    }

    private func victims(of statement: SQLiteStatement, with values: SQLiteValue...) throws(SQLiteError) -> [Victim] {
        var result: [Victim] = []
        try statement.run(values) { row throws(SQLiteError) in
            result.append(Victim(id: row.int(0), partition: row.int(1), cost: row.int(2)))
        }
        return result
    }

    private func delete(_ victims: [Victim]) throws(SQLiteError) {
        for victim in victims {
            try deleteEntry.run([.int(victim.id)])
            // An index that refers to a missing row will do so again.
            guard connection.changedRows == 1, 1...Self.maximumBytes ~= victim.cost else {
                throw .damaged("an index without its row")
            }
            try deleteBody.run([.int(victim.id)])
            touched[victim.id] = nil
            guard let partition = DiskPartition(rawValue: victim.partition) else { continue }
            usage[partition]?.bytes -= victim.cost
            usage[partition]?.entries -= 1
        }
    }
}
