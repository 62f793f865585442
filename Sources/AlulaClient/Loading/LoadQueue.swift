/// Tracks loads and their callers; its methods return the actions to perform.
///
/// A load is first looked up in caches. Then it is queued for a slot, runs, and may be paused and queued again for
/// another attempt.
struct LoadQueue<Key: Hashable & Sendable> {
    /// A load of a key, distinct from later loads of the same key.
    struct Load: Hashable, Sendable {
        let key: Key
        let number: UInt64
    }

    private struct SharedLoad {
        let number: UInt64
        var callers: [(id: UInt64, priority: ThumbnailLoader.Priority)]

        var priority: ThumbnailLoader.Priority { callers.map(\.priority).max() ?? .low }
    }

    private let limit: Int
    private let lowLimit: Int
    private let order: ThumbnailLoader.Order
    private var sharedLoads: [Key: SharedLoad] = [:]
    private var queue: [Load] = []
    /// The running loads, including abandoned ones that have not ended.
    private var active: Set<Load> = []
    private var lastNumber: UInt64 = 0
    var activeCount: Int { active.count }
    var queuedCount: Int { queue.count }

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - limit: The number of slots.
    ///   - lowLimit: The number of slots that loads of low priority may take.
    ///   - order: The order of loads with the same priority.
    init(limit: Int, lowLimit: Int, order: ThumbnailLoader.Order) {
        self.limit = max(1, limit)
        self.lowLimit = max(1, lowLimit)
        self.order = order
    }

    /// Adds a caller to the load of a key; returns the load if it is new.
    mutating func join(_ key: Key, caller: UInt64, priority: ThumbnailLoader.Priority = .normal) -> Load? {
        if sharedLoads[key] != nil {
            sharedLoads[key]?.callers.append((caller, priority))
            return nil
        }
        lastNumber += 1
        sharedLoads[key] = SharedLoad(number: lastNumber, callers: [(caller, priority)])
        return Load(key: key, number: lastNumber)
    }

    /// The load of a key.
    func load(of key: Key) -> Load? { sharedLoads[key].map { Load(key: key, number: $0.number) } }

    /// Changes the priority of a caller.
    mutating func setPriority(_ priority: ThumbnailLoader.Priority, of key: Key, caller: UInt64) {
        guard let index = sharedLoads[key]?.callers.firstIndex(where: { $0.id == caller }) else { return }
        sharedLoads[key]?.callers[index].priority = priority
    }

    /// Removes a caller; returns the load if it has no callers left.
    mutating func leave(_ key: Key, caller: UInt64) -> Load? {
        guard let index = sharedLoads[key]?.callers.firstIndex(where: { $0.id == caller }) else { return nil }
        sharedLoads[key]?.callers.remove(at: index)
        return sharedLoads[key]?.callers.isEmpty ?? false ? load(of: key) : nil
    }

    /// Abandons a load; if it is running, it occupies its slot until its end.
    mutating func abandon(_ load: Load) {
        guard isCurrent(load) else { return }
        sharedLoads[load.key] = nil
        queue.removeAll { $0 == load }
    }

    /// Queues a load for a slot.
    mutating func enqueue(_ load: Load) { if isCurrent(load) { queue.append(load) } }

    /// Returns the next load to start, if there is a slot for it.
    mutating func next() -> Load? {
        // The first of the highest priority.
        let candidates = order == .fifo ? queue : queue.reversed()
        guard active.count < limit, let load = candidates.max(by: { priority(of: $0) < priority(of: $1) }) else {
            return nil
        }
        if priority(of: load) == .low, active.count(where: { priority(of: $0) == .low }) >= lowLimit { return nil }
        queue.removeAll { $0 == load }
        active.insert(load)
        return load
    }

    /// Frees the slot of a load that needs another attempt; false if it has no callers.
    mutating func pause(_ load: Load) -> Bool {
        active.remove(load)
        return isCurrent(load) && !callers(of: load).isEmpty
    }

    /// The callers that wait for a load.
    func callers(of load: Load) -> [UInt64] {
        isCurrent(load) ? sharedLoads[load.key]?.callers.map(\.id) ?? [] : []
    }

    /// Frees the slot of a load that has ended; returns its callers.
    mutating func end(_ load: Load) -> [UInt64] {
        active.remove(load)
        defer { abandon(load) }
        return callers(of: load)
    }

    private func isCurrent(_ load: Load) -> Bool { sharedLoads[load.key]?.number == load.number }

    /// The highest priority of the callers of a load; low if it was abandoned.
    private func priority(of load: Load) -> ThumbnailLoader.Priority {
        isCurrent(load) ? sharedLoads[load.key]?.priority ?? .low : .low
    }
}
