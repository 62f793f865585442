public import Foundation

/// A bounded cache in memory, from which the least recently used values are removed first.
public final class ThumbnailMemoryCache<Value: Sendable>: ThumbnailCaching {
    private let cache: Guarded<PurgingCache<URL, CachedValue<Value>>>
    private let cost: @Sendable (Value) -> Int

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - capacity: The maximum total size of the values in bytes; zero stores none.
    ///   - preferredUsage: The total size to which a full cache is purged; at most the capacity. Nil is 60 percent.
    ///   - cost: Returns the size of a value in bytes.
    public init(capacity: Int, preferredUsage: Int? = nil, cost: @escaping @Sendable (Value) -> Int) {
        self.cost = cost
        cache = Guarded(PurgingCache(capacity: capacity, preferred: preferredUsage ?? capacity / 10 * 6))
    }

    /// The total size of the values in bytes.
    public var usage: Int { cache.withLock(\.bytes) }

    public func value(for url: URL) -> CachedValue<Value>? { cache.withLock { $0.value(for: url) } }

    public func store(_ value: CachedValue<Value>, for url: URL) {
        let cost = cost(value.value)
        cache.withLock { _ = $0.insert(value, for: url, bytes: cost) }
    }

    public func removeValue(for url: URL) { cache.withLock { $0.remove(url) } }

    public func removeAll() { cache.withLock { $0.removeAll() } }
}

extension ThumbnailMemoryCache<Thumbnail> {
    /// Creates a cache of files.
    ///
    /// - Parameters:
    ///   - capacity: The maximum total size of the files in bytes; zero stores none.
    ///   - preferredUsage: The total size to which a full cache is purged; at most the capacity. Nil is 60 percent.
    public convenience init(capacity: Int = 100 << 20, preferredUsage: Int? = nil) {
        self.init(capacity: capacity, preferredUsage: preferredUsage, cost: \.data.count)
    }
}
