package import Coordination
package import Downloading
import ImageCaching
import Imaging
import Memory

/// The three caches, and the records that tie results and pixels to the source they were made from.
package final class PipelineCaches: SourceCaching {
    let decoded: AutoPurgingImageCache<DecodeKey, DecodedImage>
    let results: AutoPurgingImageCache<ResultKey, RenderedImage>
    private let sources: AutoPurgingImageCache<SourceKey, SourceBody>
    private let records: AutoPurgingImageCache<SourceKey, SourceRecord>
    private let timekeeper: any Timekeeper

    /// Room for about this many bytes of records: some 30,000 sources whose pixels or results may still be there.
    private static let recordCapacity = 32 << 20

    /// Empty caches.
    package init(configuration: PipelineConfiguration, timekeeper: any Timekeeper) {
        decoded = AutoPurgingImageCache(
            memoryCapacity: configuration.decodedCacheCapacity,
            preferredMemoryUsageAfterPurge: configuration.decodedCachePreferred, cost: \.byteCount)
        results = AutoPurgingImageCache(
            memoryCapacity: configuration.resultCacheCapacity,
            preferredMemoryUsageAfterPurge: configuration.resultCachePreferred, cost: \.cost)
        sources = AutoPurgingImageCache(
            memoryCapacity: configuration.sourceCacheMemory,
            preferredMemoryUsageAfterPurge: configuration.sourceCacheMemory / 10 * 9, cost: \.bytes.count)
        records = AutoPurgingImageCache(
            memoryCapacity: Self.recordCapacity, preferredMemoryUsageAfterPurge: Self.recordCapacity / 10 * 9,
            cost: \.head.byteCount)
        self.timekeeper = timekeeper
    }

    /// What is known of a source, and its bytes where they are here.
    package func stored(for identity: SourceIdentity) -> StoredSource? {
        guard let record = knownRecord(for: identity) else {
            // Counted as the miss that it is.
            _ = sources.value(for: SourceKey(source: identity))
            return nil
        }
        return StoredSource(head: record.head, bytes: bytes(of: record))
    }

    /// The bytes that a record tells of, while they are here.
    func bytes(of record: SourceRecord) -> SharedBytes? {
        // Two transfers of one source may end at once: bytes that are not those of the record are of no use.
        sources.value(for: SourceKey(source: record.identity)) { $0.validator == record.validator }?.bytes
    }

    /// Keeps a fetched source whose picture has a readable header and whose origin lets a shared cache store it.
    ///
    /// When the bytes are others than before, all that was made from the old ones goes.
    package func store(_ source: Source) {
        let key = SourceKey(source: source.identity)
        let old = records.value(for: key)
        guard source.head.freshness.storability == .shared,
            let record = try? SourceRecord(source.head, bytes: source.bytes)
        else {
            if old != nil { removeAll(from: source.identity) }
            return
        }
        if let old, old.validator != record.validator { removeAll(from: source.identity) }
        records.add(record, for: key)
        sources.add(SourceBody(validator: source.validator, bytes: source.bytes), for: key)
    }

    /// Replaces what is known of a source whose origin has confirmed it; what may not be kept any more goes.
    package func refresh(_ head: SourceHead) {
        let key = SourceKey(source: head.identity)
        guard let old = records.value(for: key), old.validator == head.validator else { return }
        guard head.freshness.storability == .shared else {
            removeAll(from: head.identity)
            return
        }
        records.add(SourceRecord(head, header: old.header), for: key)
    }

    /// Forgets a source and all made from it.
    package func remove(_ identity: SourceIdentity) { removeAll(from: identity) }

    /// What is known of a source that is fresh, else nil.
    func record(for identity: SourceIdentity) -> SourceRecord? {
        guard let record = knownRecord(for: identity), record.freshness.isFresh(at: timekeeper.secondsSince1970) else {
            return nil
        }
        return record
    }

    /// What is known of a source, fresh or stale.
    func knownRecord(for identity: SourceIdentity) -> SourceRecord? {
        records.value(for: SourceKey(source: identity))
    }

    /// Whether the source's origin lets a shared cache keep it and it is still the one that is kept.
    func isCurrent(_ record: SourceRecord) -> Bool {
        record.freshness.storability == .shared
            && records.value(for: SourceKey(source: record.identity))?.validator == record.validator
    }

    /// Whether the bytes of the source are kept.
    func isStored(_ record: SourceRecord) -> Bool {
        isCurrent(record) && sources.contains(SourceKey(source: record.identity))
    }

    /// Keeps pixels while their source is current; whether they were admitted.
    @discardableResult
    func keep(_ image: DecodedImage, for key: DecodeKey, of record: SourceRecord) -> Bool {
        keep(image, for: key, of: record, in: decoded)
    }

    /// Keeps a result while its source is current; whether it was admitted.
    func keep(_ result: RenderedImage, for key: ResultKey, of record: SourceRecord) -> Bool {
        keep(result, for: key, of: record, in: results)
    }

    private func keep<Key, Value>(
        _ value: Value, for key: Key, of record: SourceRecord, in cache: AutoPurgingImageCache<Key, Value>
    ) -> Bool {
        guard isCurrent(record), cache.add(value, for: key) else { return false }
        // A removal takes the record first: one that passed the cache before the value came is seen here.
        if isCurrent(record) { return true }
        cache.remove(key)
        return false
    }

    /// Removes a source and all made from it.
    @discardableResult
    func removeAll(from identity: SourceIdentity) -> RemovedEntries {
        records.removeAll(from: identity)
        return Self.sum([
            decoded.removeAll(from: identity), results.removeAll(from: identity), sources.removeAll(from: identity),
        ])
    }

    /// Empties everything.
    func removeAll() -> RemovedEntries {
        records.removeAll()
        return Self.sum([decoded.removeAll(), results.removeAll(), sources.removeAll()])
    }

    /// Usage by cache name, in the contract's order.
    var statistics: [(name: String, statistics: CacheStatistics)] {
        [("decoded", decoded.statistics), ("result", results.statistics), ("source", sources.statistics)]
    }

    private static func sum(_ removed: [(entries: Int, bytes: Int)]) -> RemovedEntries {
        removed.reduce(into: RemovedEntries()) { total, part in
            total.entries += part.entries
            total.bytes += part.bytes
        }
    }
}
