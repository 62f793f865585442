public import Foundation

/// A layer that caches values by URL, such as pixels in memory or files on disk.
///
/// ``ThumbnailMemoryCache`` and ``ThumbnailDiskCache`` are such layers. Implement another one to share a cache with the
/// rest of an app. Methods may be called on any thread: a memory layer's also on the main thread, a disk layer's only
/// on background threads.
public protocol ThumbnailCaching<Value>: Sendable {
    /// The cached values: ``Thumbnail`` for files, or images of the platform.
    associatedtype Value: Sendable

    /// Returns the value of a URL, fresh or stale.
    func value(for url: URL) -> CachedValue<Value>?

    /// Stores a value; replaces an existing value of the same URL.
    func store(_ value: CachedValue<Value>, for url: URL)

    /// Removes the value of a URL.
    func removeValue(for url: URL)

    /// Removes all values.
    func removeAll()
}

/// A value in a cache, and the time at which it becomes stale.
///
/// A stale thumbnail is not shown, but with its entity tag, the service does not send it again if it is unchanged.
public struct CachedValue<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// The time at which the value becomes stale.
    public let expires: Date

    /// Creates a cache entry.
    public init(_ value: Value, expires: Date) {
        self.value = value
        self.expires = expires
    }
}

extension CachedValue<Thumbnail> {
    /// Returns the thumbnail with its remaining lifetime; nil if it is stale.
    func fresh(at now: Date) -> Thumbnail? {
        let remaining = expires.timeIntervalSince(now)
        guard remaining > 0 else { return nil }
        var thumbnail = value
        thumbnail.lifetime = .seconds(min(remaining, 1e9))
        return thumbnail
    }
}
