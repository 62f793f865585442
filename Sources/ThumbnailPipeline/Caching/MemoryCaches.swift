import Coordination
import Downloading
import ImageCaching
import Imaging
import Memory

/// The caches in memory: pixels, results and sources, and the records that tie the first two to the sources they were
/// made from.
struct MemoryCaches: Sendable {
    let decoded: AutoPurgingImageCache<DecodeKey, DecodedImage>
    let results: AutoPurgingImageCache<ResultKey, RenderedImage>
    let sources: AutoPurgingImageCache<SourceKey, SourceBody>
    let records: AutoPurgingImageCache<SourceKey, SourceRecord>

    /// Capacity for records in bytes: about 30,000 sources whose pixels or results may still be there.
    private static let recordCapacity = 32 << 20

    /// Empty caches.
    ///
    /// - Parameters:
    ///   - configuration: Their bounds.
    ///   - purged: Called after a purge.
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

    /// Changes whenever a result is removed or something else becomes known of a source.
    var generation: Int { results.removalCount &+ records.removalCount }

    /// Bytes that the caches take beside blocks of bytes, which count themselves: keys, places and records.
    var byteCountBesideBlocks: Int { decoded.keyUsage + results.keyUsage + sources.keyUsage + records.memoryUsage }

    /// The bytes of the version that a record describes, while they are here.
    func bytes(of record: SourceRecord) -> SharedBytes? {
        // Two transfers of one source may end at once: bytes that are not those of the record are of no use.
        sources.value(for: SourceKey(source: record.identity)) { $0.validator == record.validator }?.bytes
    }

    /// Whether pixels or results of the source are here: proof that it can be decoded in some way.
    func hasMadeAny(from source: SourceIdentity) -> Bool {
        decoded.hasAny(from: source) || results.hasAny(from: source)
    }

    func keep(_ record: SourceRecord) { records.add(record, for: SourceKey(source: record.identity)) }

    /// Keeps a value while a condition holds that a removal ends; returns whether it was admitted.
    func keep<Key, Value>(
        _ value: Value, for key: Key, while isCurrent: () -> Bool, in cache: AutoPurgingImageCache<Key, Value>
    ) -> Bool {
        guard isCurrent(), cache.add(value, for: key) else { return false }
        // A removal takes the record first: one that was done in the cache before the value came is noticed here.
        if isCurrent() { return true }
        cache.remove(key)
        return false
    }

    /// Makes room: returns the bytes that were given up.
    func purge(_ step: MemoryBudget.Purge) -> Int {
        switch step {
        case .preferred: decoded.purgeToPreferred() + results.purgeToPreferred() + sources.purgeToPreferred()
        case .empty: decoded.purgeEverything()
        }
    }

    /// Removes a source and all made from it; returns that, without its record.
    func removeAll(from identity: SourceIdentity) -> RemovedEntries {
        records.removeAll(from: identity)
        return removeMade(from: identity)
    }

    /// Removes all made from a source, and its bytes; returns that.
    func removeMade(from identity: SourceIdentity) -> RemovedEntries {
        RemovedEntries([
            decoded.removeAll(from: identity), results.removeAll(from: identity), sources.removeAll(from: identity),
        ])
    }

    /// Empties the caches; returns the contents, without records.
    func removeAll() -> RemovedEntries {
        records.removeAll()
        return RemovedEntries([decoded.removeAll(), results.removeAll(), sources.removeAll()])
    }

    /// Figures by cache name, in the contract's order.
    var figures: [(name: String, figures: CacheFigures)] {
        [("decoded", decoded.statistics), ("result", results.statistics), ("source", sources.statistics)]
            .map { ($0, CacheFigures($1)) }
    }
}
