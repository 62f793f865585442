import Memory

/// The entries of the file, with their order of use and their usage; used by the store's thread.
final class EntryTable {
    private struct Victim {
        let id: Int
        let share: Int
        let cost: Int
    }

    private let connection: SQLiteConnection
    var capacities: [DiskShare: Int]
    private let select: SQLiteStatement
    private let insert: SQLiteStatement
    private let insertBody: SQLiteStatement
    private let selectName: SQLiteStatement
    private let selectSource: SQLiteStatement
    private let selectOldest: SQLiteStatement
    private let delete: SQLiteStatement
    private let deleteBody: SQLiteStatement
    private let touch: SQLiteStatement

    private(set) var usage: [DiskShare: DiskUsage] = [:]
    private(set) var evictedBytes: [DiskShare: Int] = [:]
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

    init(_ connection: SQLiteConnection, capacities: [DiskShare: Int]) throws(SQLiteError) {
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
        delete = try connection.prepare("DELETE FROM entry WHERE id = ?")
        deleteBody = try connection.prepare("DELETE FROM body WHERE id = ?")
        touch = try connection.prepare("UPDATE entry SET used = ? WHERE id = ?")
        try count()
    }

    func entry(for key: DiskKey) throws(SQLiteError) -> Found? {
        var result: Found?
        try select.run([.int(key.share.rawValue), .blob(key.name)]) { row throws(SQLiteError) in
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

    enum Found {
        case intact(CacheValue)
        case damaged
    }

    /// Stores an entry, unless it is larger than its share.
    func store(_ entry: CacheValue, for key: DiskKey) throws(SQLiteError) {
        let cost = entry.cost
        guard cost <= capacities[key.share] ?? 0 else {
            try remove(key)
            return
        }
        try makeRoom(for: cost, in: key.share)
        clock += 1
        let used = clock
        try connection.transaction { () throws(SQLiteError) in
            try take(victims(selectName, .int(key.share.rawValue), .blob(key.name)))
            try insert.run([
                .int(key.share.rawValue), .blob(key.name), .blob(key.source), .int(used), .int(cost),
                .blob(entry.head), .blob(entry.checksum(under: key)),
            ])
            try insertBody.run([.int(connection.lastInsertedRow), .bytes(entry.body)])
            usage[key.share, default: DiskUsage()].bytes += cost
            usage[key.share, default: DiskUsage()].entries += 1
        }
    }

    func remove(_ key: DiskKey) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            try take(victims(selectName, .int(key.share.rawValue), .blob(key.name)))
        }
    }

    func removeAll(from source: [UInt8]) throws(SQLiteError) -> DiskUsage {
        try connection.transaction { () throws(SQLiteError) in
            let victims = try victims(selectSource, .blob(source))
            try take(victims)
            return DiskUsage(entries: victims.count, bytes: victims.reduce(0) { $0 + $1.cost })
        }
    }

    /// Removes up to one step of the excess over the capacities; returns whether there is more.
    func trim() throws(SQLiteError) -> Bool {
        for (share, usage) in usage where usage.bytes > capacities[share] ?? 0 {
            try writeOrder()
            try evict(from: share, downTo: capacities[share] ?? 0)
            return true
        }
        return false
    }

    func evictSixteenth() throws(SQLiteError) {
        for (share, usage) in usage {
            let target = usage.bytes - usage.bytes / 16
            while let now = self.usage[share]?.bytes, now > target { try evict(from: share, downTo: target) }
        }
    }

    func has(_ source: [UInt8]) throws(SQLiteError) -> Bool { try !victims(selectSource, .blob(source)).isEmpty }

    func writeOrder() throws(SQLiteError) {
        guard !touched.isEmpty else { return }
        let moves = touched
        touched = [:]
        try connection.transaction { () throws(SQLiteError) in
            for (id, used) in moves { try touch.run([.int(used), .int(id)]) }
        }
    }

    func count() throws(SQLiteError) {
        var sums: [DiskShare: DiskUsage] = [:]
        var last = clock
        let statement = try connection.prepare("SELECT share, count(*), sum(cost), max(used) FROM entry GROUP BY share")
        try statement.run { row throws(SQLiteError) in
            guard let share = DiskShare(rawValue: row.int(0)), 0...Self.maximumBytes ~= row.int(2),
                row.int(3) < Int.max / 2
            else {
                throw .damaged("sums that cannot be")
            }
            sums[share] = DiskUsage(entries: row.int(1), bytes: row.int(2))
            last = max(last, row.int(3))
        }
        usage = sums
        clock = last
    }

    func makeRoom(for cost: Int, in share: DiskShare) throws(SQLiteError) {
        let target = (capacities[share] ?? 0) - cost
        guard usage[share]?.bytes ?? 0 > target else { return }
        try writeOrder()
        while let now = usage[share]?.bytes, now > target { try evict(from: share, downTo: target) }
    }

    /// Evicts at most one step, and no more than necessary.
    private func evict(from share: DiskShare, downTo target: Int) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            let oldest = try victims(selectOldest, .int(share.rawValue))
            // Usage without entries is wrong; the error makes the caller recount.
            guard !oldest.isEmpty else { throw .damaged("usage without entries") }
            for victim in oldest where usage[share]?.bytes ?? 0 > target {
                try take([victim])
                evictedBytes[share, default: 0] += victim.cost
            }
        }
    }

    private func victims(_ statement: SQLiteStatement, _ values: SQLiteValue...) throws(SQLiteError) -> [Victim] {
        var result: [Victim] = []
        try statement.run(values) { row throws(SQLiteError) in
            result.append(Victim(id: row.int(0), share: row.int(1), cost: row.int(2)))
        }
        return result
    }

    private func take(_ victims: [Victim]) throws(SQLiteError) {
        for victim in victims {
            try delete.run([.int(victim.id)])
            // An index that refers to a missing row will do so again.
            guard connection.changedRows == 1, 1...Self.maximumBytes ~= victim.cost else {
                throw .damaged("an index without its row")
            }
            try deleteBody.run([.int(victim.id)])
            touched[victim.id] = nil
            guard let share = DiskShare(rawValue: victim.share) else { continue }
            usage[share]?.bytes -= victim.cost
            usage[share]?.entries -= 1
        }
    }
}
