public import Foundation

/// A layer that caches values by URL, such as pixels in memory or files on disk.
///
/// ``ThumbnailMemoryCache`` and ``ThumbnailDiskCache`` are such layers. Write another one to share a cache with the
/// rest of an app. Methods may be called on any thread: those of a layer in memory also on the main thread, those of a
/// layer on disk only on background threads.
public protocol ThumbnailCaching<Value>: Sendable {
    /// The cached values: ``Thumbnail`` for files, or images of the platform.
    associatedtype Value: Sendable

    /// Returns the value of a URL, fresh or stale.
    func value(for url: URL) -> CachedValue<Value>?

    /// Stores a value, which replaces the one of the same URL.
    func store(_ value: CachedValue<Value>, for url: URL)

    /// Removes the value of a URL.
    func removeValue(for url: URL)

    /// Removes all values.
    func removeAll()
}

/// A value in a cache, and the time at which it becomes stale.
///
/// A stale thumbnail is not shown, but its entity tag saves sending it again if it has not changed.
public struct CachedValue<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// The time at which it becomes stale.
    public let expires: Date

    /// Creates an entry of a cache.
    public init(_ value: Value, expires: Date) { (self.value, self.expires) = (value, expires) }
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
