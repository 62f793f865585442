import Coordination
import Downloading
import SharedCaching
import ThumbnailTypes

/// A lookup in the shared cache for the result of one request, before any task begins: first for the record of its
/// source if that is not fresh in memory, then for the result.
///
/// In a fleet, most requests that miss in memory end here. A task, its timer and its thread switches would cost several
/// times as much as the lookup. If the lookup finds nothing, a task continues without repeating its queries.
final class SharedCacheLookup: PendingLookup {
    private enum State {
        case record(known: SourceRecord?, ChangeTracker<SourceIdentity>.Ticket)
        case result(ResultKey, SourceRecord)
        case ended
    }

    private struct Progress {
        var state: State
        var reply: SharedReply?
        var learned = EarlierLookup()
    }

    private let allowances: LayerAllowances
    private let pipeline: ImagePipeline
    private let cache: SharedLayer
    private let resolved: ResolvedRequest
    private let source: SourceIdentity
    private let progress: Locked<Progress>
    private var caches: CacheLayers { pipeline.caches }

    /// The maximum size of a value read on an event thread in bytes: hashing it takes less than 0.1 ms.
    private static let maximumReadAtOnce = 64 << 10

    /// Creates the lookup for a request; nil if the shared cache is not the next layer to query, or the result is being
    /// rendered.
    init?(for resolved: ResolvedRequest, in pipeline: ImagePipeline) {
        let caches = pipeline.caches
        guard let cache = caches.sharedCache, cache.isUp, caches.disk == nil,
            case .success(let sources) = resolved.sources, sources.additional.isEmpty
        else { return nil }
        let known = caches.knownRecord(for: sources.image)
        let state: State
        if caches.mayHaveNewer(known) {
            state = .record(known: known, caches.changes.withLock { $0.begin(sources.image) })
        } else {
            guard let record = known, let key = pipeline.keyToLookUp(for: resolved, record) else { return nil }
            state = .result(key, record)
        }
        self.pipeline = pipeline
        self.cache = cache
        self.resolved = resolved
        source = sources.image
        let progress = Progress(state: state)
        allowances = progress.learned.allowances
        self.progress = Locked(progress)
    }

    deinit { release(progress.withLock { $0.state }) }

    func begin(_ ready: @escaping @Sendable () -> Void) {
        let key: CacheKey? =
            switch progress.withLock({ $0.state }) {
            case .record: .record(source)
            case .result(let key, _): .result(key)
            case .ended: nil
            }
        let isSent = key.map { key in
            cache.query(key, allowances) { [self] reply in
                progress.withLock { $0.reply = reply }
                ready()
            }
        }
        if isSent != true { ready() }
    }

    func finish() -> PendingLookupOutcome {
        let (state, reply) = progress.withLock { progress in
            defer { (progress.state, progress.reply) = (.ended, nil) }
            return (progress.state, progress.reply)
        }
        defer { release(state) }
        guard let reply else { return work() }
        switch state {
        case .record(let known, let ticket):
            progress.withLock { $0.learned.hasQueriedRecord = true }
            let found = cache.read(reply, for: .record(source)).value?.record
            let record = caches.adopt(found, known, since: ticket, of: source)
            guard let record, !caches.mayHaveNewer(record), let key = pipeline.keyToLookUp(for: resolved, record)
            else { return work() }
            progress.withLock { $0.state = .result(key, record) }
            return .question
        case .result(let key, let record):
            guard reply.byteCount <= Self.maximumReadAtOnce else {
                return work((key, { [cache] in cache.read(reply, for: .result(key)) }))
            }
            let found = cache.read(reply, for: .result(key))
            guard let result = found.value?.result else { return work((key, { found })) }
            return .thumbnail(pipeline.thumbnail(sharing: result, for: key, of: PerSource(record)))
        case .ended: return work()
        }
    }

    private func work(_ result: (key: ResultKey, read: @Sendable () -> LayerReply)? = nil) -> PendingLookupOutcome {
        var learned = progress.withLock { $0.learned }
        learned.result = result
        return .work(learned)
    }

    private func release(_ state: State) {
        switch state {
        case .record(_, let ticket): caches.changes.withLock { $0.end(ticket) }
        case .result(let key, _): pipeline.lookups.end(key)
        case .ended: break
        }
    }
}

/// The results of lookups in progress, one lookup per result.
///
/// Other requests for the same result wait in tasks, for one task shared by all of them.
final class LookupsInProgress: Sendable {
    private let keys = Locked<Set<ResultKey>>([])

    /// Begins a lookup for a result; returns false if there is one.
    func begin(_ key: ResultKey) -> Bool { keys.withLock { $0.insert(key).inserted } }

    func end(_ key: ResultKey) { _ = keys.withLock { $0.remove(key) } }
}

extension ImagePipeline {
    /// Returns the key of a request's result for a new lookup; nil if the request is better left to a task.
    ///
    /// That is the case if the request will fail, or others look up or render the result.
    fileprivate func keyToLookUp(for resolved: ResolvedRequest, _ record: SourceRecord) -> ResultKey? {
        guard let key = try? resultKey(for: resolved, PerSource(record)), caches.isCurrent(record),
            failedDecodes.failure(of: record.identity, known: record, plan: { _ in key.decodeKey.plan }) == nil,
            !estimator.renders.contains(key), lookups.begin(key)
        else { return nil }
        return key
    }

    /// Returns the thumbnail rendered by another instance, and stores it in memory.
    fileprivate func thumbnail(
        sharing result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>
    ) -> Thumbnail {
        // Counts the miss.
        if let known = caches.memory.results.value(for: key) { return thumbnail(known, of: records) }
        let isStored = caches.store(result, for: key, of: records, in: caches.memory)
        return thumbnail(
            Render(
                result,
                status: [CacheLayerStatus(.result, .uriMiss, isStored: isStored), CacheLayerStatus(.shared, .hit)]),
            of: records)
    }
}
