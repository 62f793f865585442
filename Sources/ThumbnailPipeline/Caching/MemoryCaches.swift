import Coordination
import Downloading
import ImageCaching
import Imaging
import Memory

/// The caches in memory: pixels, results and sources, and the records that link the first two to their sources.
struct MemoryCaches: Sendable {
    let decoded: AutoPurgingImageCache<DecodeKey, DecodedImage>
    let results: AutoPurgingImageCache<ResultKey, RenderedImage>
    let sources: AutoPurgingImageCache<SourceKey, SourceBody>
    let records: AutoPurgingImageCache<SourceKey, SourceRecord>

    /// The capacity for records in bytes: about 30,000 sources that may still have pixels or results.
    private static let recordCapacity = 32 << 20

    init(
        _ configuration: PipelineConfiguration,
        purged: @escaping @Sendable (_ entries: Int, _ bytes: Int, _ isAsked: Bool) -> Void
    ) {
        decoded = AutoPurgingImageCache(
            memoryCapacity: configuration.decodedCacheCapacity,
            preferredMemoryUsageAfterPurge: configuration.decodedCachePreferred, cost: \.byteCount, purged: purged)
        results = AutoPurgingImageCache(
            memoryCapacity: configuration.resultCacheCapacity,
            preferredMemoryUsageAfterPurge: configuration.resultCachePreferred, cost: \.cost, purged: purged)
        sources = AutoPurgingImageCache(
            memoryCapacity: configuration.sourceCacheMemory,
            preferredMemoryUsageAfterPurge: configuration.sourceCacheMemory / 10 * 9, cost: \.cost, purged: purged)
        records = AutoPurgingImageCache(
            memoryCapacity: Self.recordCapacity, preferredMemoryUsageAfterPurge: Self.recordCapacity / 10 * 9,
            cost: \.cost)
    }

    /// Changes whenever a result is removed or a source's record changes.
    var generation: Int { results.removalCount &+ records.removalCount }

    /// The memory used besides blocks of bytes, which count themselves: keys, bookkeeping and records, in bytes.
    var byteCountBesideBlocks: Int { decoded.keyUsage + results.keyUsage + sources.keyUsage + records.memoryUsage }

    /// Returns the cached bytes of the version that a record describes.
    func bytes(of record: SourceRecord) -> SharedBytes? {
        // Two transfers of one source may end at once, so the bytes may not be those of the record.
        sources.value(for: SourceKey(source: record.identity)) { $0.validator == record.validator }?.bytes
    }

    /// Whether pixels or results of the source are cached, which proves that it can be decoded in some way.
    func hasMadeAny(from source: SourceIdentity) -> Bool {
        decoded.hasAny(from: source) || results.hasAny(from: source)
    }

    func keep(_ record: SourceRecord) { records.add(record, for: SourceKey(source: record.identity)) }

    /// Stores a value while a condition holds that a removal ends; returns whether it was admitted.
    func keep<Key, Value>(
        _ value: Value, for key: Key, while isCurrent: () -> Bool, in cache: AutoPurgingImageCache<Key, Value>
    ) -> Bool {
        guard isCurrent(), cache.add(value, for: key) else { return false }
        // A removal deletes the record first, so this check detects one that cleared the cache before the value was
        // added.
        if isCurrent() { return true }
        cache.remove(key)
        return false
    }

    /// Makes room; returns the number of released bytes.
    func purge(_ step: MemoryBudget.Purge) -> Int {
        switch step {
        case .preferred: decoded.purgeToPreferred() + results.purgeToPreferred() + sources.purgeToPreferred()
        case .empty: decoded.purgeEverything()
        }
    }

    /// Removes a source and everything derived from it; returns the removed entries without the record.
    func removeAll(from identity: SourceIdentity) -> RemovedEntries {
        records.removeAll(from: identity)
        return removeMade(from: identity)
    }

    /// Removes everything derived from a source, and its bytes; returns the removed entries.
    func removeMade(from identity: SourceIdentity) -> RemovedEntries {
        RemovedEntries([
            decoded.removeAll(from: identity), results.removeAll(from: identity), sources.removeAll(from: identity),
        ])
    }

    /// Empties the caches; returns the removed entries without records.
    func removeAll() -> RemovedEntries {
        records.removeAll()
        return RemovedEntries([decoded.removeAll(), results.removeAll(), sources.removeAll()])
    }

    /// The figures by cache name, in the documented order.
    var figures: [(name: String, figures: CacheFigures)] {
        [("decoded", decoded.statistics), ("result", results.statistics), ("source", sources.statistics)]
            .map { ($0, CacheFigures($1)) }
    }
}
