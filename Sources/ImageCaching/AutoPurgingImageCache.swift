public import Coordination
public import Synchronization

/// A cache bounded by bytes: when usage exceeds the capacity, least recently used entries go until usage is at most
/// preferred.
///
/// The hysteresis between the two keeps one addition from paying for each eviction. Recency is the order of use, not
/// a clock. An entry larger than the capacity is not admitted and evicts nothing; the entry just added is never its
/// own victim. An evicted value stays valid for its holders. Every operation takes constant time, a purge constant
/// time per entry it removes.
public final class AutoPurgingImageCache<Key: SourceKeyed, Value: Sendable>: Sendable {
    @usableFromInline let state: Locked<AutoPurgingState<Key, Value>>
    @usableFromInline let cost: @Sendable (Value) -> Int
    @usableFromInline let purged: @Sendable (_ entries: Int, _ bytes: Int, _ isAsked: Bool) -> Void
    @usableFromInline let removals: RemovalCount
    @usableFromInline let repeatedHits = Atomic(0)

    /// An empty cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: Bytes above which a purge begins.
    ///   - preferredMemoryUsageAfterPurge: Bytes at or below which it stops; at most the capacity.
    ///   - cost: Bytes that a value occupies; its key counts besides if it is more than a 64th of that.
    ///   - purged: Called after a purge, outside the cache's lock; `isAsked` tells a purge that a caller wanted from
    ///     one that the capacity made necessary.
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

    /// The value under `key`, which becomes the most recently used.
    ///
    /// Counted as a hit or a miss; a caller that will ask again before it does the work leaves the miss to that time.
    ///
    /// - Parameters:
    ///   - key: The key to look for.
    ///   - countsMiss: Whether finding nothing counts.
    ///   - isUsable: Asked under the cache's lock about the value; a value that is not usable counts as not found.
    @inlinable public func value(
        for key: Key, countsMiss: Bool = true, where isUsable: (Value) -> Bool = { _ in true }
    ) -> Value? {
        state.withLock { $0.value(for: key, countsMiss: countsMiss, where: isUsable) }
    }

    /// Changes with each entry that is removed, replaced or evicted: while it stays the same, every value that was
    /// found is still there.
    @inlinable public var removalCount: Int { removals.value }

    /// Counts a hit that ``removalCount`` made unnecessary to look up.
    @inlinable public func countRepeatedHit() { repeatedHits.wrappingAdd(1, ordering: .relaxed) }

    /// Whether `key` is there; changes neither recency nor counts.
    @inlinable public func contains(_ key: Key) -> Bool {
        state.withLock { $0.contains(key) }
    }

    /// Stores `value` under `key` in place of an earlier value, and purges if that made usage exceed the capacity.
    ///
    /// - Returns: Whether the value was admitted.
    @discardableResult @inlinable public func add(_ value: Value, for key: Key) -> Bool {
        let valueCost = cost(value)
        // Beside a large value its key is nothing: ten images of so many bytes fit into ten times as many.
        let keyCost = key.byteCount > valueCost / 64 ? key.byteCount : 0
        let bytes = valueCost + keyCost
        let (isAdmitted, victims, purge) = state.withLock { state in
            let before = state.evicted
            let (isAdmitted, victims) = state.add(value, cost: bytes, keyCost: keyCost, for: key)
            return (isAdmitted, victims, state.evicted.since(before))
        }
        // Released here, outside the lock: giving back pixels takes time.
        _ = victims
        if purge.entries > 0 { purged(purge.entries, purge.bytes, false) }
        return isAdmitted
    }

    /// Removes the value under `key`; returns whether there was one.
    @discardableResult @inlinable public func remove(_ key: Key) -> Bool {
        let removed = state.withLock { $0.remove(key) }
        return removed != nil
    }

    /// Whether anything made from `source` is here.
    @inlinable public func hasAny(from source: Key.Source) -> Bool { state.withLock { $0.hasAny(from: source) } }

    /// Removes everything made from `source`: every level, page and result.
    @discardableResult @inlinable public func removeAll(from source: Key.Source) -> (entries: Int, bytes: Int) {
        let removed = state.withLock { $0.removeAll(from: source) }
        return (removed.values.count, removed.bytes)
    }

    /// Removes all entries, and tells how many entries and bytes there were.
    @discardableResult @inlinable public func removeAll() -> (entries: Int, bytes: Int) {
        let removed = state.withLock { $0.removeAll() }
        return (removed.values.count, removed.bytes)
    }

    /// Sets new bounds and purges at once if usage exceeds the new capacity.
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

    /// Purges as if the capacity were exceeded, down to the preferred usage; returns the bytes that were released.
    @discardableResult @inlinable public func purgeToPreferred() -> Int { purge { $0.preferred } }

    /// Removes everything as a purge does, which counts as evicted; returns the bytes.
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

    /// Bytes in use.
    @inlinable public var memoryUsage: Int { state.withLock { $0.usage } }

    /// Bytes in use for keys and their places: what the cache takes beside its values.
    @inlinable public var keyUsage: Int { state.withLock { $0.keyUsage } }

    /// Usage, bounds and counts at this moment.
    @inlinable public var statistics: CacheStatistics {
        var statistics = state.withLock { $0.statistics }
        statistics.hits += repeatedHits.load(ordering: .relaxed)
        return statistics
    }
}

/// A key that knows which sources its value was made from.
public protocol SourceKeyed: Hashable, Sendable {
    /// The identity of a source.
    associatedtype Source: Hashable & Sendable
    /// The source of the value under this key.
    var source: Source { get }
    /// Sources that the value was made from as well.
    var additionalSources: [Source] { get }
    /// Bytes that an entry occupies besides its value: the key and its places in a cache.
    var byteCount: Int { get }
}

extension SourceKeyed {
    /// No additional sources.
    @inlinable public var additionalSources: [Source] { [] }
    /// Nothing that would matter.
    @inlinable public var byteCount: Int { 0 }
}

/// A cache's contents and counts; sizes in bytes.
public struct CacheStatistics: Equatable, Sendable {
    /// Bytes in use.
    public var usage: Int
    /// Bytes above which a purge begins.
    public var capacity: Int
    /// Bytes at or below which a purge stops.
    public var preferred: Int
    /// Number of entries.
    public var entries: Int
    /// Look-ups that found their key.
    public var hits: Int
    /// Look-ups that did not.
    public var misses: Int
    /// Bytes that purges have taken.
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
