import Coordination
import Downloading
import SharedCaching
import ThumbnailTypes

/// Looks up a request's record and result in the first shared layer without starting a task.
///
/// In a fleet, this answers most requests that miss in memory. A task, its timer and its thread switches would cost
/// several times as much. On a miss, a task continues without repeating these queries.
final class EventThreadLookup: PendingLookup {
    private enum Step {
        case record(RecordRead)
        case result(LookupLock, SourceRecord)
        case ended
    }

    private struct Progress {
        var step: Step
        var reply: SharedReply?
        var earlier = EarlierLookup()
    }

    /// Hashing this many bytes on an event thread takes less than 0.1 ms.
    private static let maximumReadAtOnce = 64 << 10

    private let pipeline: ImagePipeline
    private let layer: SharedLayer
    private let resolved: ResolvedRequest
    private let source: SourceIdentity
    private let progress: Locked<Progress>

    private var caches: CacheLayers { pipeline.caches }

    init?(for resolved: ResolvedRequest, in pipeline: ImagePipeline) {
        let caches = pipeline.caches
        guard let layer = caches.shared.first, layer.isServer, layer.isUp, caches.localBelowMemory.isEmpty,
            case .success(let sources) = resolved.sources, sources.additional.isEmpty, !sources.main.isPrivate
        else { return nil }
        let stored = caches.storedRecord(for: sources.main)
        let step: Step
        if caches.mayHaveNewer(stored) {
            step = .record(RecordRead(of: sources.main, stored: stored, in: caches))
        } else {
            guard let record = stored, let lock = pipeline.lockLookup(for: resolved, record: record) else { return nil }
            step = .result(lock, record)
        }
        self.pipeline = pipeline
        self.layer = layer
        self.resolved = resolved
        source = sources.main
        progress = Locked(Progress(step: step))
    }

    func begin(completion: @escaping @Sendable () -> Void) {
        let (step, waits) = progress.withLock { ($0.step, $0.earlier.waits) }
        let key: CacheKey? =
            switch step {
            case .record: .record(source)
            case .result(let lock, _): .result(lock.key)
            case .ended: nil
            }
        let isSent = key.map { key in
            layer.query(key, waits: waits) { [self] reply in
                progress.withLock { $0.reply = reply }
                completion()
            }
        }
        if isSent != true { completion() }
    }

    func finish() -> PendingLookupOutcome {
        let (step, reply) = progress.withLock { progress in
            defer {
                progress.step = .ended
                progress.reply = nil
            }
            return (progress.step, progress.reply)
        }
        guard let reply else { return needsTask() }
        switch step {
        case .record(let read):
            progress.withLock { $0.earlier.recordLayer = layer.name }
            let record = read.record(storing: layer.read(reply, for: .record(source)))
            guard let record, !caches.mayHaveNewer(record),
                let lock = pipeline.lockLookup(for: resolved, record: record)
            else { return needsTask() }
            progress.withLock { $0.step = .result(lock, record) }
            return .queryAgain
        case .result(let lock, let record):
            let key = lock.key
            guard reply.byteCount <= Self.maximumReadAtOnce else {
                return needsTask(withResult: { [layer] in layer.read(reply, for: .result(key)) }, for: key)
            }
            let layerReply = layer.read(reply, for: .result(key))
            guard let thumbnail = pipeline.thumbnail(from: layerReply, of: layer, for: key, records: PerSource(record))
            else {
                return needsTask(withResult: { layerReply }, for: key)
            }
            return .thumbnail(thumbnail)
        case .ended: return needsTask()
        }
    }

    private func needsTask() -> PendingLookupOutcome { .needsTask(progress.withLock { $0.earlier }) }

    private func needsTask(
        withResult read: @escaping @Sendable () -> LayerReply, for key: ResultKey
    ) -> PendingLookupOutcome {
        var earlier = progress.withLock { $0.earlier }
        earlier.result = EarlierLookup.Result(layer: layer.name, key: key, read: read)
        return .needsTask(earlier)
    }
}

/// The exclusive right to look up a result on an event thread; other requests for it use the shared task.
final class LookupLock: Sendable {
    let key: ResultKey
    private let locks: LookupLocks

    fileprivate init(_ key: ResultKey, in locks: LookupLocks) {
        self.key = key
        self.locks = locks
    }

    deinit { locks.keys.withLock { _ = $0.remove(key) } }
}

final class LookupLocks: Sendable {
    fileprivate let keys = Locked<Set<ResultKey>>([])

    func take(_ key: ResultKey) -> LookupLock? {
        keys.withLock { $0.insert(key).inserted } ? LookupLock(key, in: self) : nil
    }
}

extension ImagePipeline {
    /// Locks the lookup; nil if the request will fail, or if another one is looking up or rendering the result.
    fileprivate func lockLookup(for resolved: ResolvedRequest, record: SourceRecord) -> LookupLock? {
        guard let key = try? resultKey(for: resolved, records: PerSource(record)), caches.isCurrent(record),
            failedDecodes.failure(of: record.identity, stored: record, plan: { _ in key.decodeKey.plan }) == nil,
            !estimator.renders.contains(key)
        else { return nil }
        return lookupLocks.take(key)
    }

    fileprivate func thumbnail(
        from reply: LayerReply, of layer: SharedLayer, for key: ResultKey, records: PerSource<SourceRecord>
    ) -> Thumbnail? {
        guard reply.value != nil else { return nil }
        // Another request may have stored it meanwhile. Counts the miss otherwise.
        if let stored = caches.result(for: key) { return thumbnail(cached: stored, of: records) }
        var lookup = ResultLookup()
        lookup.add(reply, of: layer, for: key, records: records, in: caches)
        return RenderedImage(lookup).map { thumbnail(cached: $0, of: records) }
    }
}
