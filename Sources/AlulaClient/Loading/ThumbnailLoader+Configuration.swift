import Foundation

extension ThumbnailLoader {
    /// The order in which waiting loads of the same priority start.
    public enum Order: Hashable, Sendable {
        /// The oldest first.
        case fifo
        /// The newest first, which suits views that scroll.
        case lifo
    }

    /// The importance of a load.
    ///
    /// A load has the highest of its callers' priorities.
    public enum Priority: Int, Comparable, Hashable, Sendable, CaseIterable {
        /// Not needed yet, such as prefetched thumbnails.
        case low
        /// The default.
        case normal
        /// Needed before others.
        case high

        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// The limits, caches and retries of a loader.
    public struct Configuration: Sendable {
        /// The maximum number of concurrent loads, at least one.
        public var maximumActiveLoads = 4
        /// The maximum number of concurrent loads of low priority, at least one, so that others find a slot.
        public var maximumActiveLowPriorityLoads = 2
        /// The order in which waiting loads of the same priority start.
        public var order = Order.fifo
        /// The layer for files in memory; loaders may share one.
        public var memory: any ThumbnailCaching<Thumbnail> = ThumbnailMemoryCache<Thumbnail>()
        /// The layer for files on disk; nil for none.
        public var disk: (any ThumbnailCaching<Thumbnail>)?
        /// The further attempts of loads that fail.
        public var retry = RetryPolicy()

        /// Creates the default configuration: 100 MiB in memory, no disk, two retries.
        public init() {}
    }

    /// The clock and the chance of a loader, which tests replace.
    struct Environment: Sendable {
        var now: @Sendable () -> Date = { .now }
        var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// A number from 0 to 1.
        var random: @Sendable () -> Double = { .random(in: 0...1) }
    }
}
