public import Foundation

/// Loads thumbnails for many callers: at most one request per URL, a limited number of concurrent loads, and caches in
/// memory and on disk.
///
/// 1. A fresh thumbnail in memory is returned immediately.
/// 2. A URL that is being loaded or queued is not loaded twice: the caller joins.
/// 3. A fresh file on disk is returned without a request.
/// 4. Other URLs wait for one of ``Configuration/maximumActiveLoads`` slots, those of higher priority first. A stale
///    copy is revalidated: if it has not changed, the service does not send it again.
/// 5. A load that fails may be tried again (``RetryPolicy``). If the service cannot be reached, a stale copy is
///    returned.
/// 6. When the last caller has left, the load is canceled and its connection closed, unless more than half of the image
///    has arrived: then it is finished and cached.
public actor ThumbnailLoader {
    private typealias Load = LoadQueue<URL>.Load
    private typealias Channel = EventChannel<ThumbnailLoad.Element>

    /// The state of a load.
    private struct LoadState {
        /// The lookup on disk, the request, or the wait for the next attempt.
        var task: Task<Void, Never>?
        var stale: Thumbnail?
        var progress: TransferProgress?
        var failures = 0
    }

    /// The service.
    public nonisolated let service: ThumbnailService
    private nonisolated let configuration: Configuration
    private nonisolated let environment: Environment
    private nonisolated let diskQueue = WorkQueue(width: 1)
    private var queue: LoadQueue<URL>
    private var states: [Load: LoadState] = [:]
    private var callers: [UInt64: Channel] = [:]
    private var lastCaller: UInt64 = 0

    /// Creates a loader for the thumbnails of a service.
    public init(_ service: ThumbnailService, configuration: Configuration = Configuration()) {
        self.init(service, configuration: configuration, environment: Environment())
    }

    init(_ service: ThumbnailService, configuration: Configuration, environment: Environment) {
        self.service = service
        self.configuration = configuration
        self.environment = environment
        queue = LoadQueue(
            limit: configuration.maximumActiveLoads, lowLimit: configuration.maximumActiveLowPriorityLoads,
            order: configuration.order)
    }

    /// The number of running loads.
    public var activeLoads: Int { queue.activeCount }

    /// The number of loads that wait for a slot.
    public var queuedLoads: Int { queue.queuedCount }

    /// Starts to load a thumbnail.
    ///
    /// - Parameters:
    ///   - url: A URL of the service; ``ThumbnailService/url(of:)-(ThumbnailRequest)`` creates them.
    ///   - priority: The importance of the load.
    ///   - placeholder: The image to show until the thumbnail is available.
    /// - Returns: The load, which can be iterated, and canceled by its receipt.
    public func load(_ url: URL, priority: Priority = .normal, placeholder: Thumbnail? = nil) -> ThumbnailLoad {
        lastCaller += 1
        let receipt = ThumbnailLoad.Receipt(url: url, caller: lastCaller, loader: ObjectIdentifier(self))
        let channel = Channel { [weak self] in Task { [weak self] in await self?.cancel(receipt) } }
        if let thumbnail = cached(url) {
            channel.send(.thumbnail(thumbnail))
            channel.finish()
        } else {
            if let placeholder { channel.send(.placeholder(placeholder)) }
            callers[receipt.caller] = channel
            if let load = queue.join(url, caller: receipt.caller, priority: priority) {
                start(load)
            } else {
                if let load = queue.load(of: url), let progress = states[load]?.progress {
                    channel.send(.progress(progress))
                }
                // A higher priority may entitle a queued load to a slot.
                startNext()
            }
        }
        return ThumbnailLoad(receipt: receipt, elements: EventReader(channel))
    }

    /// Returns the thumbnail at a URL.
    ///
    /// - Throws: ``ClientError``.
    public func thumbnail(_ url: URL, priority: Priority = .normal) async throws(ClientError) -> Thumbnail {
        try await load(url, priority: priority).thumbnail
    }

    /// Changes the importance of a caller's wait, for example when its view comes into sight.
    public func setPriority(_ priority: Priority, of receipt: ThumbnailLoad.Receipt) {
        guard receipt.loader == ObjectIdentifier(self) else { return }
        queue.setPriority(priority, of: receipt.url, caller: receipt.caller)
        startNext()
    }

    /// Ends a caller's wait with ``ClientError/cancelled``; other callers continue to wait.
    ///
    /// A receipt of another loader has no effect.
    public func cancel(_ receipt: ThumbnailLoad.Receipt) {
        guard receipt.loader == ObjectIdentifier(self) else { return }
        callers.removeValue(forKey: receipt.caller)?.finish(throwing: .cancelled)
        guard let load = queue.leave(receipt.url, caller: receipt.caller) else { return }
        if let fraction = states[load]?.progress?.fraction, fraction > 0.5 { return }
        queue.abandon(load)
        states.removeValue(forKey: load)?.task?.cancel()
    }

    /// Returns the thumbnail at a URL if it is in memory and fresh.
    public nonisolated func cached(_ url: URL) -> Thumbnail? {
        configuration.memory.value(for: url)?.fresh(at: environment.now())
    }

    /// Removes the thumbnail at a URL from the caches; a load in progress still stores its thumbnail.
    public nonisolated func removeCached(_ url: URL) {
        configuration.memory.removeValue(for: url)
        if let disk = configuration.disk { diskQueue.start { disk.removeValue(for: url) } }
    }

    /// Removes all thumbnails from the caches.
    public nonisolated func removeAllCached() {
        configuration.memory.removeAll()
        if let disk = configuration.disk { diskQueue.start { disk.removeAll() } }
    }

    /// Removes all thumbnails from memory, for example on a memory warning.
    public nonisolated func removeAllFromMemory() { configuration.memory.removeAll() }
}

extension ThumbnailLoader {
    /// Looks for the thumbnail on disk, if there is such a layer; otherwise queues the load.
    private func start(_ load: Load) {
        states[load] = LoadState(stale: configuration.memory.value(for: load.key)?.value)
        guard let disk = configuration.disk else { return enqueue(load) }
        states[load]?.task = Task { [diskQueue] in
            let cached = await diskQueue.run { disk.value(for: load.key) }
            finishLookup(of: load, found: cached)
        }
    }

    private func finishLookup(of load: Load, found cached: CachedValue<Thumbnail>?) {
        guard states[load] != nil else { return }
        if let cached, let fresh = cached.fresh(at: environment.now()) {
            configuration.memory.store(cached, for: load.key)
            finish(load, with: .success(fresh))
        } else {
            if let cached { states[load]?.stale = cached.value }
            enqueue(load)
        }
    }

    private func enqueue(_ load: Load) {
        queue.enqueue(load)
        startNext()
    }

    private func startNext() {
        while let load = queue.next() {
            let stale = states[load]?.stale
            // The task does not belong to a caller: it lives until the last caller has left.
            states[load]?.task = Task { [service] in
                let result: Result<Thumbnail, ClientError>
                do throws(ClientError) {
                    let thumbnail = try await service.thumbnail(at: load.key, revalidating: stale) {
                        report($0, of: load)
                    }
                    result = .success(thumbnail)
                } catch {
                    result = .failure(error)
                }
                finishAttempt(of: load, with: result)
            }
        }
    }

    private func report(_ progress: TransferProgress, of load: Load) {
        guard states[load] != nil else { return }
        states[load]?.progress = progress
        for caller in queue.callers(of: load) {
            callers[caller]?.send(.progress(progress)) { $0.isProgress }
        }
    }

    /// Retries a load whose attempt failed, or finishes it.
    private func finishAttempt(of load: Load, with result: Result<Thumbnail, ClientError>) {
        // An abandoned load has no state, and a later load of its URL may have ended before it.
        if case .success(let thumbnail) = result, states[load] != nil { store(thumbnail, for: load.key) }
        guard case .failure(let error) = result, let state = states[load],
            let delay = configuration.retry.delay(after: error, failures: state.failures, jitter: environment.random()),
            queue.pause(load)
        else { return finish(load, with: result) }
        states[load] = LoadState(stale: state.stale, failures: state.failures + 1)
        states[load]?.task = Task { [environment] in
            // A canceled wait belongs to an abandoned load.
            try? await environment.sleep(delay)
            enqueue(load)
        }
        startNext()
    }

    /// Ends a load for its callers.
    private func finish(_ load: Load, with result: Result<Thumbnail, ClientError>) {
        var result = result
        if case .failure(.transport) = result, var stale = states[load]?.stale {
            stale.lifetime = .zero
            result = .success(stale)
        }
        states[load] = nil
        for caller in queue.end(load) {
            guard let channel = callers.removeValue(forKey: caller) else { continue }
            switch result {
            case .success(let thumbnail):
                channel.send(.thumbnail(thumbnail)) { $0.isProgress }
                channel.finish()
            case .failure(let error): channel.finish(throwing: error)
            }
        }
        startNext()
    }

    private func store(_ thumbnail: Thumbnail, for url: URL) {
        guard thumbnail.lifetime > .zero else { return }
        let seconds = thumbnail.lifetime / .seconds(1)
        let cached = CachedValue(thumbnail, expires: environment.now() + seconds)
        configuration.memory.store(cached, for: url)
        if let disk = configuration.disk { diskQueue.start { disk.store(cached, for: url) } }
    }
}
