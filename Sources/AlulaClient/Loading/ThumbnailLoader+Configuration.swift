import Foundation

extension ThumbnailLoader {
    /// The order in which waiting loads of the same priority start.
    public enum Order: Hashable, Sendable {
        /// The oldest first.
        case fifo
        /// The newest first, for views that scroll.
        case lifo
    }

    /// The importance of a load.
    ///
    /// A load has the highest of its callers' priorities.
    public enum Priority: Int, Comparable, Hashable, Sendable, CaseIterable {
        /// For thumbnails that are not needed yet, such as prefetched ones.
        case low
        /// The default.
        case normal
        /// For thumbnails that are needed before others.
        case high

        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// The limits, caches and retries of a loader.
    public struct Configuration: Sendable {
        /// The maximum number of concurrent loads, at least one.
        public var maximumActiveLoads = 4
        /// The maximum number of concurrent loads of low priority, at least one; leaves slots for other loads.
        public var maximumActiveLowPriorityLoads = 2
        /// The order in which waiting loads of the same priority start.
        public var order = Order.fifo
        /// The layer for files in memory; loaders may share one.
        public var memory: any ThumbnailCaching<Thumbnail> = ThumbnailMemoryCache<Thumbnail>()
        /// The layer for files on disk; nil for none.
        public var disk: (any ThumbnailCaching<Thumbnail>)?
        /// The retries of failed loads.
        public var retry = RetryPolicy()

        /// Creates the default configuration: 100 MiB in memory, no disk, two retries.
        public init() {}
    }

    /// The clock and random numbers of a loader, which tests replace.
    struct Environment: Sendable {
        var now: @Sendable () -> Date = { .now }
        var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// A number from 0 to 1.
        var random: @Sendable () -> Double = { .random(in: 0...1) }
    }
}
