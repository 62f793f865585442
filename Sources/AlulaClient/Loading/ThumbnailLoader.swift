public import Foundation

/// Loads thumbnails for many callers: one request for each URL at a time, few at once, and a cache of bounded size.
///
/// 1. A thumbnail that is cached and fresh is there at once.
/// 2. A URL that is being loaded, or waits for its turn, is not loaded twice: the caller joins.
/// 3. Other URLs wait for one of ``Configuration-swift.struct/maximumActiveLoads`` places.
/// 4. When the last caller has left, the load is cancelled and its connection closed.
public actor ThumbnailLoader {
    /// The order in which waiting loads start.
    public enum Order: Hashable, Sendable {
        /// The oldest first.
        case fifo
        /// The newest first: what has just come into view.
        case lifo
    }

    /// The bounds of a loader.
    public struct Configuration: Sendable {
        /// Loads at once.
        public var maximumActiveLoads = 4
        /// The order in which waiting loads start.
        public var order = Order.fifo
        /// Bytes of files that are kept at most.
        public var cacheCapacity = 100 << 20
        /// Bytes of files that a purge leaves at most; the capacity if that is smaller.
        public var preferredCacheUsage = 60 << 20

        /// The usual bounds.
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

    /// A loader of thumbnails of a service.
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

    /// Loads that run.
    public var activeLoads: Int { queue.activeCount }

    /// Loads that wait for their turn.
    public var queuedLoads: Int { queue.queuedCount }

    /// Bytes of the files that are kept.
    public var cacheUsage: Int { cache.bytes }

    /// Begins to wait for a thumbnail.
    ///
    /// - Parameters:
    ///   - url: A URL of the service; ``ThumbnailService/url(of:)-(ThumbnailRequest)`` makes them.
    ///   - placeholder: The image to show until the thumbnail is there.
    /// - Returns: The wait, which can be iterated, and cancelled by its receipt.
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

    /// The thumbnail at a URL.
    ///
    /// - Throws: ``ClientError``.
    public func thumbnail(_ url: URL) async throws(ClientError) -> Thumbnail { try await load(url).thumbnail }

    /// Ends a caller's wait with ``ClientError/cancelled``; others go on to wait.
    ///
    /// A receipt of another loader does nothing.
    public func cancel(_ receipt: ThumbnailLoad.Receipt) {
        guard receipt.loader == ObjectIdentifier(self) else { return }
        let abandoned = queue.leave(receipt.url, caller: receipt.caller)
        if let abandoned { tasks[abandoned]?.cancel() }
        callers.removeValue(forKey: receipt.caller)?.finish(throwing: ClientError.cancelled)
    }

    /// The thumbnail at a URL, if it is cached and fresh.
    public func cached(_ url: URL) -> Thumbnail? {
        guard let cached = cache.value(url) else { return nil }
        if cached.end > now() { return cached.thumbnail }
        cache.remove(url)
        return nil
    }

    /// Forgets the thumbnail at a URL; one that is being loaded is kept when it is there.
    public func removeCached(_ url: URL) { cache.remove(url) }

    /// Forgets all thumbnails, such as when memory is short.
    public func removeAllCached() { cache.removeAll() }

    private func startNext() {
        while let load = queue.next() {
            // The task does not belong to the caller: it lives until the last one has left.
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
        // Nobody waits for an abandoned load, and a later one of its URL may have ended before it.
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
