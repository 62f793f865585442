import Coordination

/// Queued writes and pending removals; a plain value, guarded by the store's lock.
///
/// A removal never waits in the queue, which may be full: it is recorded here and performed before the next work of any
/// kind. Writes of the same source that were queued before it are canceled, so that they cannot restore a removed
/// entry.
struct PendingChanges {
    struct Removals {
        var isEverything = false
        var sources: Set<[UInt8]> = []
        var keys: Set<DiskKey> = []

        var isEmpty: Bool { !isEverything && sources.isEmpty && keys.isEmpty }

        func covers(_ key: DiskKey) -> Bool { isEverything || sources.contains(key.source) || keys.contains(key) }

        mutating func add(_ other: Removals, atMost maximum: Int) {
            isEverything = isEverything || other.isEverything
            sources.formUnion(other.sources)
            keys.formUnion(other.keys)
            if sources.count + keys.count > maximum { isEverything = true }
        }
    }

    struct Ticket {
        fileprivate let bytes: Int
        fileprivate let position: ChangeTracker<[UInt8]>.Ticket
    }

    private let maximumBytes: Int
    private var writes = ChangeTracker<[UInt8]>()
    private var pendingBytes = 0
    private var removals = Removals()

    /// The number of removals above which everything is removed.
    private static let maximumRemovals = 4_096

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Whether a write of the source is queued, so that reads of it must come after the write.
    func isWriting(_ source: [UInt8]) -> Bool { writes.isInUse(source) }

    /// Registers a write; returns nil if too many bytes already wait.
    mutating func registerWrite(bytes: Int, source: [UInt8]) -> Ticket? {
        guard pendingBytes == 0 || pendingBytes + bytes <= maximumBytes else { return nil }
        pendingBytes += bytes
        return Ticket(bytes: bytes, position: writes.begin(source))
    }

    /// Ends a write that was performed or dropped; returns whether it was still wanted.
    mutating func finishWrite(_ ticket: Ticket) -> Bool {
        pendingBytes -= ticket.bytes
        defer { writes.end(ticket.position) }
        return writes.isUnchanged(since: ticket.position)
    }

    mutating func cancelWrites(source: [UInt8]) { writes.record(source) }

    mutating func cancelAllWrites() { writes.recordAll() }

    mutating func addRemoval(of key: DiskKey) {
        cancelWrites(source: key.source)
        removals.keys.insert(key)
        removeEverythingIfTooMany()
    }

    mutating func addRemoval(source: [UInt8]) {
        cancelWrites(source: source)
        removals.sources.insert(source)
        removeEverythingIfTooMany()
    }

    mutating func addRemovalOfEverything() {
        cancelAllWrites()
        removals = Removals(isEverything: true)
    }

    mutating func takeRemovals() -> Removals {
        defer { removals = Removals() }
        return removals
    }

    private mutating func removeEverythingIfTooMany() {
        if removals.keys.count + removals.sources.count > Self.maximumRemovals { addRemovalOfEverything() }
    }
}
