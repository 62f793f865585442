public import Foundation

/// Loads thumbnails for many callers: at most one request per URL, a limited number of concurrent loads, and a bounded
/// cache.
///
/// 1. A cached fresh thumbnail is returned at once.
/// 2. A URL that is being loaded or queued is not loaded twice: the caller joins.
/// 3. Other URLs wait for one of ``Configuration-swift.struct/maximumActiveLoads`` slots.
/// 4. When the last caller has left, the load is canceled and its connection closed.
public actor ThumbnailLoader {
    /// The order in which waiting loads start.
    public enum Order: Hashable, Sendable {
        /// The oldest first.
        case fifo
        /// The newest first, which suits views that scroll.
        case lifo
    }

    /// The limits of a loader.
    public struct Configuration: Sendable {
        /// The maximum number of concurrent loads.
        public var maximumActiveLoads = 4
        /// The order in which waiting loads start.
        public var order = Order.fifo
        /// The capacity of the cache in bytes.
        public var cacheCapacity = 100 << 20
        /// The usage in bytes to which a full cache is purged; capped at the capacity.
        public var preferredCacheUsage = 60 << 20

        /// Creates the default limits.
        public init() {}
    }

    private struct Cached {
        let thumbnail: Thumbnail
        let end: ContinuousClock.Instant
    }

    private let service: ThumbnailService
    private let now: @Sendable () -> ContinuousClock.Instant
    private var queue: LoadQueue<URL>
    private var cache: PurgingCache<URL, Cached>
    private var tasks: [LoadQueue<URL>.Load: Task<Void, Never>] = [:]
    private var callers: [UInt64: AsyncThrowingStream<ThumbnailLoad.Element, any Error>.Continuation] = [:]
    private var lastCaller: UInt64 = 0

    /// Creates a loader for the thumbnails of a service.
    public init(_ service: ThumbnailService, configuration: Configuration = Configuration()) {
        self.init(service, configuration: configuration, now: { ContinuousClock.now })
    }

    init(
        _ service: ThumbnailService, configuration: Configuration,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        precondition(configuration.maximumActiveLoads > 0, "A loader needs a place to load in.")
        (self.service, self.now) = (service, now)
        queue = LoadQueue(limit: configuration.maximumActiveLoads, order: configuration.order)
        cache = PurgingCache(
            capacity: configuration.cacheCapacity,
            preferred: min(configuration.preferredCacheUsage, configuration.cacheCapacity))
    }

    /// The number of running loads.
    public var activeLoads: Int { queue.activeCount }

    /// The number of waiting loads.
    public var queuedLoads: Int { queue.queuedCount }

    /// The size of the cached files in bytes.
    public var cacheUsage: Int { cache.bytes }

    /// Starts to load a thumbnail.
    ///
    /// - Parameters:
    ///   - url: A URL of the service; ``ThumbnailService/url(of:)-(ThumbnailRequest)`` creates them.
    ///   - placeholder: The image to show until the thumbnail is available.
    /// - Returns: The load, which can be iterated, and canceled by its receipt.
    public func load(_ url: URL, placeholder: Thumbnail? = nil) -> ThumbnailLoad {
        lastCaller += 1
        let receipt = ThumbnailLoad.Receipt(url: url, caller: lastCaller, loader: ObjectIdentifier(self))
        let (elements, continuation) = AsyncThrowingStream<ThumbnailLoad.Element, any Error>.makeStream()
        if let thumbnail = cached(url) {
            continuation.yield(.thumbnail(thumbnail))
            continuation.finish()
        } else {
            if let placeholder { continuation.yield(.placeholder(placeholder)) }
            callers[receipt.caller] = continuation
            continuation.onTermination = { [weak self] reason in
                guard case .cancelled = reason else { return }
                Task { [weak self] in await self?.cancel(receipt) }
            }
            queue.join(url, caller: receipt.caller)
            startNext()
        }
        return ThumbnailLoad(receipt: receipt, elements: elements)
    }

    /// Returns the thumbnail at a URL.
    ///
    /// - Throws: ``ClientError``.
    public func thumbnail(_ url: URL) async throws(ClientError) -> Thumbnail { try await load(url).thumbnail }

    /// Ends a caller's wait with ``ClientError/cancelled``; other callers continue to wait.
    ///
    /// A receipt of another loader has no effect.
    public func cancel(_ receipt: ThumbnailLoad.Receipt) {
        guard receipt.loader == ObjectIdentifier(self) else { return }
        let abandoned = queue.leave(receipt.url, caller: receipt.caller)
        if let abandoned { tasks[abandoned]?.cancel() }
        callers.removeValue(forKey: receipt.caller)?.finish(throwing: ClientError.cancelled)
    }

    /// Returns the thumbnail at a URL if it is cached and fresh.
    public func cached(_ url: URL) -> Thumbnail? {
        guard let cached = cache.value(url) else { return nil }
        if cached.end > now() { return cached.thumbnail }
        cache.remove(url)
        return nil
    }

    /// Removes the thumbnail at a URL from the cache; one that is being loaded is still stored afterward.
    public func removeCached(_ url: URL) { cache.remove(url) }

    /// Removes all thumbnails from the cache, for example when memory is short.
    public func removeAllCached() { cache.removeAll() }

    private func startNext() {
        while let load = queue.next() {
            // The task does not belong to the caller: it lives until the last caller has left.
            tasks[load] = Task { [service] in
                let result: Result<Thumbnail, ClientError>
                do throws(ClientError) {
                    result = .success(try await service.thumbnail(at: load.key))
                } catch {
                    result = .failure(error)
                }
                end(load, result)
            }
        }
    }

    private func end(_ load: LoadQueue<URL>.Load, _ result: Result<Thumbnail, ClientError>) {
        tasks[load] = nil
        let waiting = queue.end(load)
        // An abandoned load has no callers, and a later load of its URL may have ended before it.
        if case .success(let thumbnail) = result, thumbnail.lifetime > .zero, !waiting.isEmpty {
            let cached = Cached(thumbnail: thumbnail, end: now() + thumbnail.lifetime)
            cache.insert(cached, load.key, bytes: thumbnail.data.count)
        }
        for caller in waiting {
            guard let continuation = callers.removeValue(forKey: caller) else { continue }
            switch result {
            case .success(let thumbnail):
                continuation.yield(.thumbnail(thumbnail))
                continuation.finish()
            case .failure(let error): continuation.finish(throwing: error)
            }
        }
        startNext()
    }
}
