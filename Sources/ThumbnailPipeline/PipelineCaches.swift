package import Coordination
package import Downloading
import ImageCaching
import Imaging
import Memory

/// The three caches, and the records that tie results and pixels to the source they were made from.
package final class PipelineCaches: SourceCaching {
    let decoded: AutoPurgingImageCache<DecodeKey, DecodedImage>
    let results: AutoPurgingImageCache<ResultKey, RenderedImage>
    private let sources: AutoPurgingImageCache<SourceKey, Source>
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
            cost: { 1_024 + $0.identity.url.canonical.utf8.count })
        self.timekeeper = timekeeper
    }

    /// The bytes of a source, if they are here and may be used without asking the origin.
    package func source(for identity: SourceIdentity) -> Source? {
        // Two transfers of one source may end at once: bytes that are not those of the record are of no use.
        let record = record(for: identity)
        return sources.value(for: SourceKey(source: identity)) { $0.validator == record?.validator }
    }

    /// Keeps a fetched source whose picture has a readable header and whose origin lets a shared cache store it.
    ///
    /// When the bytes are others than before, all that was made from the old ones goes.
    package func store(_ source: Source) {
        let key = SourceKey(source: source.identity)
        let old = records.value(for: key)
        guard let record = try? SourceRecord(of: source), record.freshness.storability == .shared else {
            if old != nil { removeAll(from: source.identity) }
            return
        }
        if let old, old.validator != record.validator { removeAll(from: source.identity) }
        records.add(record, for: key)
        sources.add(source, for: key)
    }

    /// What is known of a source that is fresh, else nil.
    func record(for identity: SourceIdentity) -> SourceRecord? {
        guard let record = records.value(for: SourceKey(source: identity)),
            record.freshness.isFresh(at: timekeeper.secondsSince1970)
        else { return nil }
        return record
    }

    /// Whether a source is known, but its origin has to be asked before it is used.
    func isStale(_ identity: SourceIdentity) -> Bool {
        records.value(for: SourceKey(source: identity)).map {
            !$0.freshness.isFresh(at: timekeeper.secondsSince1970)
        } ?? false
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
