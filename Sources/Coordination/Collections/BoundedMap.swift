/// A map with limits on its entries and their total weight, which evicts the least recently used entries.
///
/// Entries can also expire. A plain value; its owner locks it. Removed entries are returned, so that their owner can
/// release them outside the lock. Every operation takes constant time, an eviction constant time per entry. The entries
/// are linked in order of use by their slots; keys and values are in separate arrays, so that no lookup copies a key.
/// Inlinable for the same reason as ``Locked``.
public struct BoundedMap<Key: Hashable, Value> {
    public struct Entry {
        public let key: Key
        public var value: Value
        public var weight: Int
        /// The time at which the entry expires; nil means never.
        public var end: Duration?

        @inlinable init(key: Key, value: Value, weight: Int, end: Duration?) {
            self.key = key
            self.value = value
            self.weight = weight
            self.end = end
        }
    }

    @usableFromInline
    struct Link {
        @usableFromInline var newer: Int
        @usableFromInline var older: Int
        @usableFromInline let weight: Int
        @usableFromInline let end: Duration?

        @inlinable init(newer: Int, older: Int, weight: Int, end: Duration?) {
            self.newer = newer
            self.older = older
            self.weight = weight
            self.end = end
        }

        @inlinable func isUsable(at now: Duration) -> Bool {
            guard let end else { return true }
            return end > now
        }
    }

    @inlinable static var none: Int { -1 }

    @usableFromInline let maximumCount: Int
    @usableFromInline let maximumWeight: Int
    @usableFromInline var slots: [Key: Int] = [:]
    @usableFromInline var links: [Link] = []
    @usableFromInline var keys: [Key?] = []
    @usableFromInline var values: [Value?] = []
    @usableFromInline var free: [Int] = []
    @usableFromInline var newest = -1
    @usableFromInline var oldest = -1
    @usableFromInline var totalWeight = 0

    @inlinable public init(maximumCount: Int = .max, maximumWeight: Int = .max) {
        precondition(maximumCount > 0, "a map holds at least one entry")
        self.maximumCount = maximumCount
        self.maximumWeight = maximumWeight
    }

    @inlinable public var weight: Int { totalWeight }

    /// The number of entries, including expired ones.
    @inlinable public var count: Int { slots.count }

    /// The entries, least recently used first, including expired ones.
    @inlinable public var entries: [Entry] {
        var entries: [Entry] = []
        var slot = oldest
        while slot != Self.none {
            if let entry = entry(at: slot) { entries.append(entry) }
            slot = links[slot].newer
        }
        return entries
    }

    /// Returns the value without changing the order.
    @inlinable public func peek(_ key: Key, at now: Duration = .zero) -> Value? {
        guard let slot = slots[key], links[slot].isUsable(at: now) else { return nil }
        return values[slot]
    }

    /// Returns the value and makes it the most recently used, unless it has expired or is not usable.
    @inlinable public mutating func value(
        for key: Key, at now: Duration = .zero, where isUsable: (Value) -> Bool = { _ in true }
    ) -> Value? {
        guard let slot = slots[key], links[slot].isUsable(at: now), let value = values[slot], isUsable(value) else {
            return nil
        }
        moveToFront(slot)
        return value
    }

    /// Stores a value as the most recently used one, unless it exceeds the limits by itself.
    ///
    /// Returns the entries that were replaced or evicted.
    @discardableResult @inlinable public mutating func insert(
        _ value: Value, for key: Key, weight: Int = 0, until end: Duration? = nil
    ) -> [Entry] {
        var removed: [Entry] = []
        if let replaced = remove(key) { removed.append(replaced) }
        guard weight <= maximumWeight else { return removed }
        while count >= maximumCount || totalWeight > maximumWeight - weight, let entry = removeOldest() {
            removed.append(entry)
        }
        let link = Link(newer: Self.none, older: Self.none, weight: weight, end: end)
        let slot = free.popLast() ?? links.count
        if slot == links.count {
            links.append(link)
            keys.append(key)
            values.append(value)
        } else {
            links[slot] = link
            keys[slot] = key
            values[slot] = value
        }
        slots[key] = slot
        self.link(slot)
        totalWeight += weight
        return removed
    }

    /// Changes the value; keeps weight, expiry and position.
    @inlinable public mutating func modify(_ key: Key, _ body: (inout Value) -> Void) {
        guard let slot = slots[key], var value = values[slot] else { return }
        body(&value)
        values[slot] = value
    }

    @discardableResult @inlinable public mutating func remove(_ key: Key) -> Entry? {
        guard let slot = slots.removeValue(forKey: key), let entry = entry(at: slot) else { return nil }
        unlink(slot)
        keys[slot] = nil
        values[slot] = nil
        free.append(slot)
        totalWeight -= entry.weight
        return entry
    }

    @discardableResult @inlinable public mutating func removeOldest() -> Entry? {
        oldest == Self.none ? nil : keys[oldest].flatMap { remove($0) }
    }

    /// Removes the matching entries, in linear time.
    @inlinable public mutating func removeAll(where isRemoved: (Entry) -> Bool) {
        for entry in entries where isRemoved(entry) { remove(entry.key) }
    }

    /// Removes expired entries, in linear time.
    @inlinable public mutating func removeExpired(at now: Duration) {
        removeAll { entry in entry.end.map { $0 <= now } ?? false }
    }

    @inlinable public mutating func removeAll() {
        self = BoundedMap(maximumCount: maximumCount, maximumWeight: maximumWeight)
    }

    /// Evicts entries down to a total weight, but not the most recently used one if `sparesNewest`.
    @inlinable public mutating func evict(downTo limit: Int, sparesNewest: Bool = false) -> [Entry] {
        var evicted: [Entry] = []
        while totalWeight > limit, !(sparesNewest && count == 1), let entry = removeOldest() { evicted.append(entry) }
        return evicted
    }

    @inlinable func entry(at slot: Int) -> Entry? {
        guard let key = keys[slot], let value = values[slot] else { return nil }
        return Entry(key: key, value: value, weight: links[slot].weight, end: links[slot].end)
    }

    @inlinable mutating func moveToFront(_ slot: Int) {
        guard slot != newest else { return }
        unlink(slot)
        link(slot)
    }

    @inlinable mutating func link(_ slot: Int) {
        links[slot].newer = Self.none
        links[slot].older = newest
        if newest != Self.none { links[newest].newer = slot }
        newest = slot
        if oldest == Self.none { oldest = slot }
    }

    @inlinable mutating func unlink(_ slot: Int) {
        let newer = links[slot].newer
        let older = links[slot].older
        if newer == Self.none { newest = older } else { links[newer].older = older }
        if older == Self.none { oldest = newer } else { links[older].newer = newer }
    }
}

extension BoundedMap: Sendable where Key: Sendable, Value: Sendable {}
extension BoundedMap.Entry: Sendable where Key: Sendable, Value: Sendable {}
extension BoundedMap.Link: Sendable {}
