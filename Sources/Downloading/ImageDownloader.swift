package import Coordination
package import HTTPTypes
package import Text

/// Downloads each source at most once at a time, for all its callers.
///
/// A shared fetch is a separate task. It is canceled when its last caller leaves, unless half of the announced bytes
/// have arrived. Each caller waits under a receipt.
package final class ImageDownloader: Sendable {
    typealias Continuation = CheckedContinuation<FetchOutcome, any Error>
    typealias State = ImageDownloaderState<Continuation>

    struct Shell {
        var state: State
        var tasks: [FetchID: Task<Void, Never>] = [:]
        var revalidating: Set<SourceIdentity> = []
    }

    let shell: Locked<Shell>
    let loader: any DataLoading
    let cache: any SourceCaching
    let timekeeper: any Timekeeper
    let observer: DownloadObserver
    let budget: MemoryBudget
    let activity: ActivityReporter?
    private let staleAllowances: StaleAllowances
    private let currentRules: Locked<DownloadRules>

    package init(
        rules: DownloadRules, loader: any DataLoading, cache: any SourceCaching, timekeeper: any Timekeeper,
        observer: DownloadObserver = DownloadObserver(), budget: MemoryBudget = MemoryBudget()
    ) {
        self.budget = budget
        let shell = Locked(Shell(state: State(rules.configuration)))
        self.shell = shell
        activity = observer.onActivityChange.map { report in
            ActivityReporter(report, timekeeper: timekeeper) { now in
                shell.withLock { ($0.state.isActive(at: now), $0.state.nextActivityChange(at: now)) }
            }
        }
        self.loader = loader
        self.cache = cache
        self.timekeeper = timekeeper
        self.observer = observer
        staleAllowances = rules.configuration.staleAllowances
        currentRules = Locked(rules)
    }

    package var rules: DownloadRules { currentRules.withLock { $0 } }

    /// Replaces the rules; existing identities and transfers in progress keep theirs.
    package func setRules(_ rules: DownloadRules) {
        currentRules.withLock { $0 = rules }
        startTransfers(shell.withLock { $0.state.setConfiguration(rules.configuration, at: timekeeper.now) })
    }

    package func identity(of source: ExactText) throws(SourceURLError) -> SourceIdentity {
        try rules.identity(of: source)
    }

    /// - Parameter text: The name of a named origin, or a URL.
    package func origin(of text: ExactText) throws(SourceURLError) -> OriginKey {
        if let named = rules.configuration.origins[text.string] { return named.key }
        return try SourceURL(parsing: text.string).origin
    }

    package func setHeld(_ isHeld: Bool, origin: OriginKey) { loader.setHeld(isHeld, origin: origin) }

    package var namesOfOrigins: [OriginKey: [String]] { rules.configuration.origins.namesByKey }

    /// Returns the source: from the cache, a fetch in progress, or its origin; a stale copy if the origin fails.
    ///
    /// - Parameter deadline: By ``Timekeeper/now``. It only orders the queue; the caller enforces it by cancellation.
    /// - Throws: A ``DownloadError``, the same for all callers of a shared fetch; `CancellationError` if the caller
    ///   itself is canceled.
    package func download(
        _ request: SourceRequest, receipt: String, deadline: Duration? = nil
    ) async throws -> SourceCopy {
        try await downloadNeededBytes(of: request.withoutScan, receipt: receipt, deadline: deadline)
    }

    /// Fetches the bytes that the request's scan needs, or the whole source if ranges are not supported or sufficient.
    package func downloadNeededBytes(
        of request: SourceRequest, receipt: String, deadline: Duration? = nil
    ) async throws -> SourceCopy {
        if request.directives.onlyIfCached { return try await cachedCopy(for: request) }
        do {
            return try await fetch(request, receipt: receipt, deadline: deadline)
        } catch let failure as FetchFailure {
            guard let staleCopy = await staleCopy(for: request, after: failure) else { throw failure.error }
            return staleCopy
        }
    }

    /// Fetches the source from its origin regardless of the cache; only an image replaces the copies.
    ///
    /// Never returns a stale copy.
    package func refresh(_ identity: SourceIdentity, receipt: String, deadline: Duration) async throws -> SourceCopy {
        var directives = RequestCacheControl.none
        directives.noCache = true
        let request = SourceRequest(identity: identity, directives: directives, needsBytes: false, isRefresh: true)
        do {
            return try await fetch(request, receipt: receipt, deadline: deadline)
        } catch let failure as FetchFailure {
            throw failure.error
        }
    }

    /// Returns how a stored source may be used now for a caller.
    package func reuse(of freshness: SourceFreshness, for directives: RequestCacheControl) -> SourceReuse {
        freshness.reuse(at: timekeeper.secondsSince1970, for: directives, staleAllowances: staleAllowances)
    }

    /// Starts a background revalidation unless one is running.
    package func revalidate(_ identity: SourceIdentity, scan: SourceScan? = nil) {
        guard shell.withLock({ $0.revalidating.insert(identity).inserted }) else { return }
        Task.detached {
            // A failure is remembered; there is no caller to report it to.
            _ = try? await self.fetch(
                SourceRequest(identity: identity, needsBytes: false, isBackground: true, scan: scan),
                receipt: "revalidation-" + String(UInt64.random(in: .min ... .max), radix: 36), deadline: nil)
            self.shell.withLock { _ = $0.revalidating.remove(identity) }
        }
    }

    /// Forgets the failures of one source or all, and discards the results of transfers in progress.
    ///
    /// Call it before removing the source from the caches, so that later callers get the origin's current version.
    package func forget(_ identity: SourceIdentity? = nil) {
        shell.withLock { shell in
            if let identity { shell.state.failures.forget(identity) } else { shell.state.failures.removeAll() }
            shell.state.invalidate(identity)
        }
    }

    package var activeRequestCount: Int { shell.withLock { $0.state.activeCount } }

    package var maximumActiveRequestCount: Int { shell.withLock { $0.state.maximumActiveCount } }

    package var queuedRequestCount: Int { shell.withLock { $0.state.queuedCount } }

    package var fetches: [FetchSnapshot] { shell.withLock { $0.state.snapshots(at: timekeeper.now) } }

    package var isActive: Bool { shell.withLock { $0.state.isActive(at: timekeeper.now) } }

    package var originHealth: OriginHealthSummary {
        var summary = loader.originHealth
        let named = Set(rules.configuration.origins.all.compactMap(\.baseOrigin))
        for index in summary.origins.indices where named.contains(summary.origins[index].origin) {
            summary.origins[index].isProven = true
        }
        return summary
    }

    /// Ends only this caller's wait; returns false if no caller has the receipt.
    package func cancel(receipt: String) -> Bool {
        let leaveAction = shell.withLock { $0.state.leave(receipt: receipt) }
        resumeLeaving(leaveAction, throwing: DownloadError.receiptCanceled)
        return !leaveAction.continuations.isEmpty
    }

    /// Cancels all downloads of a source, even if nearly complete.
    package func cancelAll(of source: SourceIdentity) -> (downloads: Int, callers: Int) {
        let (leaveAction, count) = shell.withLock { $0.state.leave(source: source) }
        resumeLeaving(leaveAction, throwing: DownloadError.receiptCanceled)
        return (count, leaveAction.continuations.count)
    }

    package func shutDown() {
        resumeLeaving(shell.withLock { $0.state.shutDown() }, throwing: DownloadError.shuttingDown)
    }

    /// Joins fetches until one suffices; a fetch that the caller starts itself does.
    private func fetch(_ request: SourceRequest, receipt: String, deadline: Duration?) async throws -> SourceCopy {
        var request = request
        var rangeBytes = 0
        while true {
            switch try await join(request, receipt: receipt, deadline: deadline) {
            // It joined a fetch of callers that do not need bytes, and the source is unchanged.
            case .fetched(let copy) where copy.bytes == nil && copy.ranges == nil && request.needsBytes: continue
            case .fetched(var copy) where copy.ranges == nil || request.scan != nil:
                copy.rangeBytes += rangeBytes
                return copy
            case .fetched: break
            case .insufficient(let count): rangeBytes += count
            }
            request = request.withoutScan
        }
    }

    private func join(_ request: SourceRequest, receipt: String, deadline: Duration?) async throws -> FetchOutcome {
        let id = shell.withLock { $0.state.makeWaiterID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Continuation) in
                // A partial fetch has already looked there for the record.
                let queriesLayersBelowMemory = cache.hasLayerBelowMemory && request.scan == nil
                let isHeld = loader.isHeld(request.identity.target.origin)
                let admission = shell.withLock { shell in
                    shell.state.join(
                        id, request: request, receipt: receipt, deadline: deadline, at: timekeeper.now,
                        continuation: continuation,
                        queriesLayersBelowMemory: queriesLayersBelowMemory, isHeld: isHeld, cached: storedCopy(for:))
                }
                switch admission {
                case .cached(let copy, let reuse, let continuation):
                    if reuse == .usableWhileRevalidating { revalidate(request.identity, scan: request.scan) }
                    continuation.resume(returning: .fetched(copy))
                case .rejected(let error, let continuation):
                    continuation.resume(throwing: error)
                case .failedBefore(let error, let continuation):
                    continuation.resume(throwing: FetchFailure(error: error, exchange: nil))
                case .waiting(let toStart, let isJoined):
                    if isJoined { observer.onCollapse() }
                    startTransfers(toStart)
                case .lookingUp(let action):
                    launch([action], lookUp)
                }
            }
        } onCancel: {
            resumeLeaving(shell.withLock { $0.state.leave(id) }, throwing: CancellationError())
        }
    }

    private func storedCopy(for request: SourceRequest) -> (copy: SourceCopy, reuse: SourceReuse)? {
        if request.directives.noStore { return nil }
        let whole = cache.stored(for: request.identity)
        let wholeReuse = whole.map { reuse(of: $0, for: request) }
        let partialHead = request.scan == nil ? nil : cache.storedPartialHead(of: request.identity)
        if let partialHead, wholeReuse != .usable {
            let copy = SourceCopy(head: partialHead, bytes: nil)
            let reuse = reuse(of: copy, for: request)
            let received = partialHead.receivedAt.secondsSince1970
            let isLater = whole.map { $0.head.receivedAt.secondsSince1970 < received } ?? true
            if reuse == .usable || isLater { return (copy, reuse) }
        }
        guard let whole, let wholeReuse else { return nil }
        return (whole, wholeReuse)
    }

    func reuse(of copy: SourceCopy, for request: SourceRequest) -> SourceReuse {
        guard copy.bytes != nil || !request.needsBytes, isSelected(copy.head) else { return .needsValidation }
        let reuse = reuse(of: copy.head.freshness, for: request.directives)
        return request.isBackground && reuse == .usableWhileRevalidating ? .needsValidation : reuse
    }

    func isSelected(_ head: SourceHead) -> Bool {
        head.selectingFields.isEmpty || head.isSelected(by: head.identity.rules.selectingFields)
    }

    private func cachedCopy(for request: SourceRequest) async throws -> SourceCopy {
        if let stored = storedCopy(for: request), stored.reuse != .needsValidation { return stored.copy }
        guard cache.hasLayerBelowMemory, let retrieved = await cache.retrieve(request.identity),
            reuse(of: retrieved, for: request) != .needsValidation
        else { throw DownloadError.notCached }
        return retrieved
    }

    private func staleCopy(for request: SourceRequest, after failure: FetchFailure) async -> SourceCopy? {
        guard failure.error.isOriginFailure,
            !request.identity.isPrivate || ![401, 403].contains(failure.error.upstreamStatus)
        else { return nil }
        var copy = cache.stored(for: request.identity)
        if copy == nil, request.scan != nil, !request.needsBytes {
            copy = cache.storedPartialHead(of: request.identity).map { SourceCopy(head: $0, bytes: nil) }
        }
        if copy == nil || request.needsBytes && copy?.bytes == nil {
            copy = cache.hasLayerBelowMemory ? await cache.retrieve(request.identity) : nil
        }
        guard let copy, isSelected(copy.head),
            copy.head.freshness.isUsableOnError(
                at: timekeeper.secondsSince1970, for: request.directives, staleAllowances: staleAllowances,
                isHeld: failure.error == .originHeld)
        else { return nil }
        return SourceCopy(head: copy.head, bytes: copy.bytes, exchange: failure.exchange)
    }

    private func resumeLeaving(_ leaveAction: State.LeaveAction, throwing error: any Error) {
        let tasks = shell.withLock { shell in leaveAction.abandoned.compactMap { shell.tasks.removeValue(forKey: $0) } }
        for task in tasks { task.cancel() }
        for continuation in leaveAction.continuations { continuation.resume(throwing: error) }
    }
}
