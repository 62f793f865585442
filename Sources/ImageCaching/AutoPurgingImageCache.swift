public import Coordination
public import Synchronization

/// A cache with a capacity in bytes: when usage exceeds it, least recently used entries are evicted down to the
/// preferred usage.
///
/// The gap between the two amortizes evictions over many additions. Recency is the order of use, not a clock. An entry
/// larger than the capacity is not admitted and evicts nothing; an addition never evicts its own entry. An evicted
/// value stays valid for its owners. Every operation takes constant time, a purge constant time per removed entry.
public final class AutoPurgingImageCache<Key: SourceKeyed, Value: Sendable>: Sendable {
    @usableFromInline let state: Locked<AutoPurgingState<Key, Value>>
    @usableFromInline let cost: @Sendable (Value) -> Int
    @usableFromInline let purged: @Sendable (_ entries: Int, _ bytes: Int, _ isAsked: Bool) -> Void
    @usableFromInline let removals: RemovalCount
    @usableFromInline let repeatedHits = Atomic(0)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The usage in bytes above which a purge begins.
    ///   - preferredMemoryUsageAfterPurge: The usage in bytes at which it stops; at most the capacity.
    ///   - cost: Returns the size of a value in bytes; its key counts too if it is larger than a 64th of that.
    ///   - purged: Called after a purge, outside the cache's lock; `isAsked` is true if a caller requested the purge,
    ///   false if the capacity was exceeded.
    @inlinable public init(
        memoryCapacity: Int, preferredMemoryUsageAfterPurge: Int, cost: @escaping @Sendable (Value) -> Int,
        purged: @escaping @Sendable (_ entries: Int, _ bytes: Int, _ isAsked: Bool) -> Void = { _, _, _ in }
    ) {
        precondition(
            0 <= preferredMemoryUsageAfterPurge && preferredMemoryUsageAfterPurge <= memoryCapacity,
            "the preferred usage must lie between 0 and the capacity")
        let empty = AutoPurgingState<Key, Value>(
            capacity: memoryCapacity, preferred: preferredMemoryUsageAfterPurge)
        removals = empty.removals
        state = Locked(empty)
        self.cost = cost
        self.purged = purged
    }

    /// Returns the value under `key` and makes it the most recently used.
    ///
    /// Counts a hit or a miss; a caller that will look up the key again before it does the work leaves the miss to that
    /// lookup.
    ///
    /// - Parameters:
    ///   - key: The key to look up.
    ///   - countsMiss: Whether to count a miss.
    ///   - isUsable: Checks the value under the cache's lock; an unusable value counts as a miss.
    @inlinable public func value(
        for key: Key, countsMiss: Bool = true, where isUsable: (Value) -> Bool = { _ in true }
    ) -> Value? {
        state.withLock { $0.value(for: key, countsMiss: countsMiss, where: isUsable) }
    }

    /// Changes with each entry that is removed, replaced or evicted: while it is unchanged, every value found earlier
    /// is still present.
    @inlinable public var removalCount: Int { removals.value }

    /// Counts a hit for which ``removalCount`` made the lookup unnecessary.
    @inlinable public func countRepeatedHit() { repeatedHits.wrappingAdd(1, ordering: .relaxed) }

    /// Returns whether `key` is present, without changing recency or counts.
    @inlinable public func contains(_ key: Key) -> Bool {
        state.withLock { $0.contains(key) }
    }

    /// Stores `value` under `key`, replacing any earlier value, and purges if usage then exceeds the capacity.
    ///
    /// - Returns: Whether the value was admitted.
    @discardableResult @inlinable public func add(_ value: Value, for key: Key) -> Bool {
        let valueCost = cost(value)
        // The key of a large value is negligible, and ignoring it lets exactly ten equal images fit into ten times
        // their size.
        let keyCost = key.byteCount > valueCost / 64 ? key.byteCount : 0
        let bytes = valueCost + keyCost
        let (isAdmitted, victims, purge) = state.withLock { state in
            let before = state.evicted
            let (isAdmitted, victims) = state.add(value, cost: bytes, keyCost: keyCost, for: key)
            return (isAdmitted, victims, state.evicted.since(before))
        }
        // Released here, outside the lock: freeing pixels takes time.
        _ = victims
        if purge.entries > 0 { purged(purge.entries, purge.bytes, false) }
        return isAdmitted
    }

    /// Removes the value under `key`; returns whether there was one.
    @discardableResult @inlinable public func remove(_ key: Key) -> Bool {
        let removed = state.withLock { $0.remove(key) }
        return removed != nil
    }

    /// Returns whether any value derived from `source` is present.
    @inlinable public func hasAny(from source: Key.Source) -> Bool { state.withLock { $0.hasAny(from: source) } }

    /// Removes all values derived from `source`: every level, page and result.
    @discardableResult @inlinable public func removeAll(from source: Key.Source) -> (entries: Int, bytes: Int) {
        let removed = state.withLock { $0.removeAll(from: source) }
        return (removed.values.count, removed.bytes)
    }

    /// Removes all entries; returns their number and total size.
    @discardableResult @inlinable public func removeAll() -> (entries: Int, bytes: Int) {
        let removed = state.withLock { $0.removeAll() }
        return (removed.values.count, removed.bytes)
    }

    /// Changes the bounds, and purges at once if usage exceeds the new capacity.
    @inlinable public func setBounds(memoryCapacity: Int, preferredMemoryUsageAfterPurge: Int) {
        precondition(
            0 <= preferredMemoryUsageAfterPurge && preferredMemoryUsageAfterPurge <= memoryCapacity,
            "the preferred usage must lie between 0 and the capacity")
        let (victims, purge) = state.withLock { state in
            let before = state.evicted
            let victims = state.setBounds(capacity: memoryCapacity, preferred: preferredMemoryUsageAfterPurge)
            return (victims, state.evicted.since(before))
        }
        _ = victims
        if purge.entries > 0 { purged(purge.entries, purge.bytes, false) }
    }

    /// Purges down to the preferred usage regardless of the capacity; returns the number of released bytes.
    @discardableResult @inlinable public func purgeToPreferred() -> Int { purge { $0.preferred } }

    /// Evicts all entries; returns the number of released bytes.
    @discardableResult @inlinable public func purgeEverything() -> Int { purge { _ in 0 } }

    @inlinable func purge(to bound: (AutoPurgingState<Key, Value>) -> Int) -> Int {
        let (victims, purge) = state.withLock { state in
            let before = state.evicted
            let victims = state.purge(to: bound(state))
            return (victims, state.evicted.since(before))
        }
        // Released here, outside the lock.
        _ = victims
        if purge.entries > 0 { purged(purge.entries, purge.bytes, true) }
        return purge.bytes
    }

    /// The usage in bytes.
    @inlinable public var memoryUsage: Int { state.withLock { $0.usage } }

    /// The usage in bytes of keys and bookkeeping, besides the values.
    @inlinable public var keyUsage: Int { state.withLock { $0.keyUsage } }

    /// The current usage, bounds and counts.
    @inlinable public var statistics: CacheStatistics {
        var statistics = state.withLock { $0.statistics }
        statistics.hits += repeatedHits.load(ordering: .relaxed)
        return statistics
    }
}

/// A key that identifies the sources of its value.
public protocol SourceKeyed: Hashable, Sendable {
    /// The identity of a source.
    associatedtype Source: Hashable & Sendable
    /// The source of the value.
    var source: Source { get }
    /// Further sources of the value.
    var additionalSources: [Source] { get }
    /// The size of an entry in bytes besides its value: the key and its bookkeeping in a cache.
    var byteCount: Int { get }
}

extension SourceKeyed {
    /// No additional sources.
    @inlinable public var additionalSources: [Source] { [] }
    /// A negligible size.
    @inlinable public var byteCount: Int { 0 }
}

/// The contents and counts of a cache; sizes in bytes.
public struct CacheStatistics: Equatable, Sendable {
    /// The usage in bytes.
    public var usage: Int
    /// The usage in bytes above which a purge begins.
    public var capacity: Int
    /// The usage in bytes at which a purge stops.
    public var preferred: Int
    /// The number of entries.
    public var entries: Int
    /// The number of lookups that found their key.
    public var hits: Int
    /// The number of lookups that did not.
    public var misses: Int
    /// The number of bytes evicted by purges.
    public var evictedBytes: Int

    @inlinable init(
        usage: Int, capacity: Int, preferred: Int, entries: Int, hits: Int, misses: Int, evictedBytes: Int
    ) {
        self.usage = usage
        self.capacity = capacity
        self.preferred = preferred
        self.entries = entries
        self.hits = hits
        self.misses = misses
        self.evictedBytes = evictedBytes
    }
}
