public import Synchronization

/// The bookkeeping of ``AutoPurgingImageCache`` as a plain value; removed values are returned, so that they are
/// released outside the lock.
@usableFromInline
struct AutoPurgingState<Key: SourceKeyed, Value> {
    @usableFromInline
    struct Entry {
        @usableFromInline let key: Key
        @usableFromInline var value: Value
        @usableFromInline var cost: Int
        @usableFromInline var keyCost: Int

        @inlinable
        init(key: Key, value: Value, cost: Int, keyCost: Int) {
            self.key = key
            self.value = value
            self.cost = cost
            self.keyCost = keyCost
        }
    }

    @usableFromInline var recency = RecencyList<Entry>()
    @usableFromInline var slots: [Key: Int] = [:]
    @usableFromInline var keysBySource: [Key.Source: Set<Key>] = [:]
    @usableFromInline var usage = 0
    @usableFromInline var keyUsage = 0
    @usableFromInline var capacity: Int
    @usableFromInline var preferred: Int
    @usableFromInline var hits = 0
    @usableFromInline var misses = 0
    @usableFromInline var evicted = Evictions()
    @usableFromInline let removals = RemovalCount()

    @inlinable init(capacity: Int, preferred: Int) {
        self.capacity = capacity
        self.preferred = preferred
    }

    @inlinable var statistics: CacheStatistics {
        CacheStatistics(
            usage: usage, capacity: capacity, preferred: preferred, entries: slots.count, hits: hits, misses: misses,
            evictedBytes: evicted.bytes)
    }

    @inlinable func contains(_ key: Key) -> Bool { slots[key] != nil }

    @inlinable mutating func value(for key: Key, countsMiss: Bool, where isUsable: (Value) -> Bool) -> Value? {
        guard let slot = slots[key], isUsable(recency[slot].value) else {
            if countsMiss { misses += 1 }
            return nil
        }
        hits += 1
        recency.moveToFront(slot)
        return recency[slot].value
    }

    @inlinable mutating func add(
        _ value: Value, cost: Int, keyCost: Int, for key: Key
    ) -> (isAdmitted: Bool, victims: [Value]) {
        var victims: [Value] = []
        if let replaced = remove(key) { victims.append(replaced) }
        guard cost <= capacity else { return (false, victims) }
        slots[key] = recency.insertAtFront(Entry(key: key, value: value, cost: cost, keyCost: keyCost))
        keysBySource[key.source, default: []].insert(key)
        for source in key.additionalSources { keysBySource[source, default: []].insert(key) }
        usage += cost
        keyUsage += keyCost
        purge(sparing: key, into: &victims)
        return (true, victims)
    }

    @inlinable mutating func remove(_ key: Key) -> Value? {
        guard let slot = slots.removeValue(forKey: key) else { return nil }
        removals.increment()
        let entry = recency.remove(slot)
        usage -= entry.cost
        keyUsage -= entry.keyCost
        forget(key, of: key.source)
        for source in key.additionalSources { forget(key, of: source) }
        return entry.value
    }

    @inlinable mutating func forget(_ key: Key, of source: Key.Source) {
        keysBySource[source]?.remove(key)
        if keysBySource[source]?.isEmpty == true { keysBySource[source] = nil }
    }

    @inlinable func hasAny(from source: Key.Source) -> Bool { keysBySource[source] != nil }

    @inlinable mutating func removeAll(from source: Key.Source) -> (values: [Value], bytes: Int) {
        let before = usage
        let values = (keysBySource[source] ?? []).compactMap { remove($0) }
        return (values, before - usage)
    }

    @inlinable mutating func removeAll() -> (values: [Value], bytes: Int) {
        let removed = (values: recency.elements.map(\.value), bytes: usage)
        removals.increment()
        recency = RecencyList()
        slots = [:]
        keysBySource = [:]
        usage = 0
        keyUsage = 0
        return removed
    }

    @inlinable mutating func setBounds(capacity: Int, preferred: Int) -> [Value] {
        self.capacity = capacity
        self.preferred = preferred
        var victims: [Value] = []
        purge(sparing: nil, into: &victims)
        return victims
    }

    @inlinable mutating func purge(sparing added: Key?, into victims: inout [Value]) {
        guard usage > capacity else { return }
        purge(to: preferred, sparing: added, into: &victims)
    }

    @inlinable mutating func purge(to bound: Int) -> [Value] {
        var victims: [Value] = []
        purge(to: bound, sparing: nil, into: &victims)
        return victims
    }

    @inlinable mutating func purge(to bound: Int, sparing added: Key?, into victims: inout [Value]) {
        while usage > bound, let oldest = recency.last, oldest.key != added {
            evicted.entries += 1
            evicted.bytes += oldest.cost
            if let value = remove(oldest.key) { victims.append(value) }
        }
    }
}

/// Entries removed by purges.
@usableFromInline
struct Evictions {
    @usableFromInline var entries = 0
    @usableFromInline var bytes = 0

    @inlinable init() {}

    /// Returns the evictions since `earlier`.
    @inlinable func since(_ earlier: Evictions) -> Evictions {
        var evicted = self
        evicted.entries -= earlier.entries
        evicted.bytes -= earlier.bytes
        return evicted
    }
}

/// Counts the entries that leave a cache; readable without its lock: while the count is unchanged, every value found
/// earlier is still present.
@usableFromInline
final class RemovalCount: Sendable {
    @usableFromInline let count = Atomic(0)

    @inlinable init() {}

    @inlinable var value: Int { count.load(ordering: .acquiring) }

    @inlinable func increment() { count.wrappingAdd(1, ordering: .releasing) }
}
