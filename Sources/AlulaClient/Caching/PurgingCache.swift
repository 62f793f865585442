/// A cache with a capacity in bytes and least-recently-used eviction.
///
/// If a new value would exceed the capacity, values are evicted until the usage including it is at most the preferred
/// usage. A value larger than the capacity is not stored.
struct PurgingCache<Key: Hashable, Value> {
    private struct Entry {
        let value: Value
        let bytes: Int
        var use: Int
    }

    private let capacity: Int
    private let preferred: Int
    private var entries: [Key: Entry] = [:]
    /// Keys in order of use; only the last use of a key counts.
    private var uses: [(key: Key, use: Int)] = []
    private var lastUse = 0
    /// The total size in bytes.
    private(set) var bytes = 0

    /// Creates a cache; a negative capacity counts as zero, and a preferred usage above the capacity as the capacity.
    init(capacity: Int, preferred: Int) {
        self.capacity = max(0, capacity)
        self.preferred = min(max(0, preferred), self.capacity)
    }

    /// Returns the value of a key and makes it the most recently used.
    mutating func value(for key: Key) -> Value? {
        recordUse(of: key)
        return entries[key]?.value
    }

    /// Inserts a value; returns the keys of the evicted values.
    mutating func insert(_ value: Value, for key: Key, bytes size: Int) -> [Key] {
        remove(key)
        guard size <= capacity else { return [] }
        let evicted = bytes + size > capacity ? purge(to: max(0, preferred - size)) : []
        entries[key] = Entry(value: value, bytes: size, use: 0)
        bytes += size
        recordUse(of: key)
        return evicted
    }

    mutating func remove(_ key: Key) { bytes -= entries.removeValue(forKey: key)?.bytes ?? 0 }

    mutating func removeAll() { self = PurgingCache(capacity: capacity, preferred: preferred) }

    private mutating func recordUse(of key: Key) {
        guard entries[key] != nil else { return }
        lastUse += 1
        entries[key]?.use = lastUse
        uses.append((key, lastUse))
        if uses.count > 2 * entries.count + 16 { uses.removeAll { entries[$0.key]?.use != $0.use } }
    }

    private mutating func purge(to goal: Int) -> [Key] {
        var end = 0
        var evicted: [Key] = []
        while bytes > goal, end < uses.count {
            if entries[uses[end].key]?.use == uses[end].use {
                remove(uses[end].key)
                evicted.append(uses[end].key)
            }
            end += 1
        }
        uses.removeFirst(end)
        return evicted
    }
}
