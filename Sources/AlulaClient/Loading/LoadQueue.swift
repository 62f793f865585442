/// Tracks running and waiting loads and their callers: a value whose methods return the actions to perform.
struct LoadQueue<Key: Hashable> {
    /// A load of a key, distinct from later loads of the same key.
    struct Load: Hashable {
        let key: Key
        let number: UInt64
    }

    private struct Flight {
        let number: UInt64
        var callers: [UInt64]
        var isActive = false
    }

    private let limit: Int
    private let order: ThumbnailLoader.Order
    private var flights: [Key: Flight] = [:]
    private var queue: [Key] = []
    private var lastNumber: UInt64 = 0
    /// The number of running loads, including abandoned ones that have not ended.
    private(set) var activeCount = 0
    var queuedCount: Int { queue.count }

    init(limit: Int, order: ThumbnailLoader.Order) { (self.limit, self.order) = (limit, order) }

    /// Adds a caller to the load of a key, which is queued if it is new.
    mutating func join(_ key: Key, caller: UInt64) {
        if flights[key] != nil {
            flights[key]?.callers.append(caller)
        } else {
            lastNumber += 1
            flights[key] = Flight(number: lastNumber, callers: [caller])
            queue.append(key)
        }
    }

    /// Removes a caller; returns the load if it is running and has no callers left.
    mutating func leave(_ key: Key, caller: UInt64) -> Load? {
        guard var flight = flights[key], let place = flight.callers.firstIndex(of: caller) else { return nil }
        flight.callers.remove(at: place)
        flights[key] = flight.callers.isEmpty ? nil : flight
        guard flight.callers.isEmpty else { return nil }
        if !flight.isActive { queue.removeAll { $0 == key } }
        return flight.isActive ? Load(key: key, number: flight.number) : nil
    }

    /// Returns the next load to start, if a slot is free.
    mutating func next() -> Load? {
        guard activeCount < limit, !queue.isEmpty else { return nil }
        let key = order == .fifo ? queue.removeFirst() : queue.removeLast()
        flights[key]?.isActive = true
        activeCount += 1
        return flights[key].map { Load(key: key, number: $0.number) }
    }

    /// Frees the slot of a load that has ended; returns its callers.
    mutating func end(_ load: Load) -> [UInt64] {
        activeCount -= 1
        guard let flight = flights[load.key], flight.number == load.number else { return [] }
        flights[load.key] = nil
        return flight.callers
    }
}
