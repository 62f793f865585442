import Coordination
import Synchronization

/// The entries that a cache evicted at once.
struct Eviction: Sendable {
    let entries: Int
    let bytes: Int
    /// Whether they were evicted to free memory, and not because the cache was full.
    let isRequested: Bool
}

/// A cache with a capacity in bytes; above it, entries are evicted down to the preferred usage.
///
/// The gap amortizes evictions. An entry larger than the capacity is not added and evicts nothing; an addition never
/// evicts its own entry. Operations take constant time, evictions constant time per entry; with ``EvictionPolicy/cost``
/// an eviction sorts all entries.
final class MemoryCache<Key: SourceKeyed, Value: Sendable>: Sendable {
    private struct Stored {
        let value: Value
        let keyCost: Int
        /// Time per byte to compute the value again, as a power of two so that similar values are equal.
        let worth: Double
        /// ``worth`` plus the cache's age at the last use.
        var priority: Double
    }

    private typealias Entry = BoundedMap<Key, Stored>.Entry

    private struct State {
        var entries = BoundedMap<Key, Stored>()
        var keysBySource: [Key.Source: Set<Key>] = [:]
        var keyUsage = 0
        var bounds: CacheBounds
        /// The highest priority evicted so far.
        var age = 0.0
        var hits = 0
        var misses = 0
        var evictedBytes = 0
    }

    private let state: Locked<State>
    private let cost: @Sendable (Value) -> Int
    private let onEviction: @Sendable (Eviction) -> Void
    private let removals = Atomic(0)
    private let repeatedHits = Atomic(0)

    init(
        _ bounds: CacheBounds, cost: @escaping @Sendable (Value) -> Int,
        onEviction: @escaping @Sendable (Eviction) -> Void = { _ in }
    ) {
        state = Locked(State(bounds: bounds))
        self.cost = cost
        self.onEviction = onEviction
    }

    /// Returns the value, and counts a hit or a miss.
    ///
    /// - Parameters:
    ///   - countsMiss: False if the caller looks up the key again, and that lookup counts.
    ///   - isUsable: Called under the cache's lock; an unusable value counts as a miss.
    func value(for key: Key, countsMiss: Bool = true, where isUsable: (Value) -> Bool = { _ in true }) -> Value? {
        state.withLock { state in
            guard let cached = state.entries.value(for: key, where: { isUsable($0.value) }) else {
                if countsMiss { state.misses += 1 }
                return nil
            }
            state.hits += 1
            if state.bounds.policy == .cost {
                let priority = state.age + cached.worth
                state.entries.modify(key) { $0.priority = priority }
            }
            return cached.value
        }
    }

    /// Changes with each entry that is removed, replaced or evicted.
    ///
    /// While it is unchanged, every value found earlier is still present. Read without the lock.
    var removalCount: Int { removals.load(ordering: .acquiring) }

    /// Counts a hit that was answered without a lookup because ``removalCount`` is unchanged.
    func countRepeatedHit() { repeatedHits.wrappingAdd(1, ordering: .relaxed) }

    func contains(_ key: Key) -> Bool { state.withLock { $0.entries.peek(key) != nil } }

    /// Returns whether the value was added.
    ///
    /// - Parameter timeCost: The time to compute the value again, for ``EvictionPolicy/cost``.
    @discardableResult
    func add(_ value: Value, for key: Key, timeCost: Duration = .zero) -> Bool {
        let valueCost = cost(value)
        // Keys below 1/64 of the value's size are not counted.
        let keyCost = key.byteCount > valueCost / 64 ? key.byteCount : 0
        let (isAdmitted, replaced, evicted) = state.withLock { state -> (Bool, Entry?, [Entry]) in
            let replaced = remove(key, from: &state)
            guard valueCost + keyCost <= state.bounds.capacity else { return (false, replaced, []) }
            let weight = valueCost + keyCost
            let worth = (timeCost.seconds / Double(max(1, weight))).binade
            state.entries.insert(
                Stored(value: value, keyCost: keyCost, worth: worth, priority: state.age + worth), for: key,
                weight: weight)
            for source in key.dependencies { state.keysBySource[source, default: []].insert(key) }
            state.keyUsage += keyCost
            let isOver = state.entries.weight > state.bounds.capacity
            return (
                true, replaced, isOver ? evict(downTo: state.bounds.preferred, sparesNewest: true, from: &state) : []
            )
        }
        // Released here, outside the lock: freeing pixels takes time.
        _ = replaced
        report(evicted, isRequested: false)
        return isAdmitted
    }

    @discardableResult
    func remove(_ key: Key) -> Bool {
        let removed = state.withLock { remove(key, from: &$0) }
        return removed != nil
    }

    func hasAny(from source: Key.Source) -> Bool { state.withLock { $0.keysBySource[source] != nil } }

    @discardableResult
    func removeAll(from source: Key.Source) -> RemovedEntries {
        let removed = state.withLock { state in
            (state.keysBySource[source] ?? []).compactMap { remove($0, from: &state) }
        }
        return RemovedEntries(entries: removed.count, bytes: removed.reduce(0) { $0 + $1.weight })
    }

    @discardableResult
    func removeAll() -> RemovedEntries {
        let removed = state.withLock { state in
            removals.wrappingAdd(1, ordering: .releasing)
            defer {
                state.entries = BoundedMap()
                state.keysBySource = [:]
                state.keyUsage = 0
            }
            return state.entries
        }
        return RemovedEntries(entries: removed.count, bytes: removed.weight)
    }

    func setBounds(_ bounds: CacheBounds) {
        let evicted = state.withLock { state in
            state.bounds = bounds
            return state.entries.weight > bounds.capacity ? evict(downTo: bounds.preferred, from: &state) : []
        }
        report(evicted, isRequested: false)
    }

    @discardableResult
    func evictToPreferred() -> Int {
        report(state.withLock { evict(downTo: $0.bounds.preferred, from: &$0) }, isRequested: true)
    }

    @discardableResult
    func evictAll() -> Int { report(state.withLock { evict(downTo: 0, from: &$0) }, isRequested: true) }

    var memoryUsage: Int { state.withLock { $0.entries.weight } }

    var keyUsage: Int { state.withLock { $0.keyUsage } }

    var statistics: CacheStatistics {
        let repeated = repeatedHits.load(ordering: .relaxed)
        return state.withLock { state in
            CacheStatistics(
                usage: CacheUsage(
                    bytes: state.entries.weight, capacity: state.bounds.capacity, preferred: state.bounds.preferred,
                    entries: state.entries.count),
                hits: state.hits + repeated, misses: state.misses, evictedBytes: state.evictedBytes)
        }
    }

    private func remove(_ key: Key, from state: inout State) -> Entry? {
        guard let entry = state.entries.remove(key) else { return nil }
        forget(entry, in: &state)
        return entry
    }

    private func evict(downTo bound: Int, sparesNewest: Bool = false, from state: inout State) -> [Entry] {
        let evicted =
            switch state.bounds.policy {
            case .lru: state.entries.evict(downTo: bound, sparesNewest: sparesNewest)
            case .cost: evictByCost(downTo: bound, sparesNewest: sparesNewest, from: &state)
            }
        for entry in evicted {
            state.evictedBytes += entry.weight
            forget(entry, in: &state)
        }
        return evicted
    }

    /// GreedyDual-Size (Cao and Irani, 1997); among equal priorities, the least recently used entries go first.
    private func evictByCost(downTo bound: Int, sparesNewest: Bool, from state: inout State) -> [Entry] {
        let entries = sparesNewest ? state.entries.entries.dropLast() : state.entries.entries[...]
        let order = entries.indices.sorted {
            (entries[$0].value.priority, $0) < (entries[$1].value.priority, $1)
        }
        var evicted: [Entry] = []
        for index in order {
            guard state.entries.weight > bound else { break }
            state.entries.remove(entries[index].key)
            state.age = max(state.age, entries[index].value.priority)
            evicted.append(entries[index])
        }
        return evicted
    }

    private func forget(_ entry: Entry, in state: inout State) {
        removals.wrappingAdd(1, ordering: .releasing)
        state.keyUsage -= entry.value.keyCost
        for source in entry.key.dependencies {
            state.keysBySource[source]?.remove(entry.key)
            if state.keysBySource[source]?.isEmpty == true { state.keysBySource[source] = nil }
        }
    }

    /// Evicted entries are released when the caller returns, outside the lock.
    @discardableResult
    private func report(_ evicted: [Entry], isRequested: Bool) -> Int {
        let bytes = evicted.reduce(0) { $0 + $1.weight }
        if !evicted.isEmpty {
            onEviction(Eviction(entries: evicted.count, bytes: bytes, isRequested: isRequested))
        }
        return bytes
    }
}
