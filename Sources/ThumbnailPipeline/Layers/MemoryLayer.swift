import Coordination
import Downloading
import Imaging
import Memory
import Recipes
import Text
import ThumbnailTypes

struct MemoryLayer: CacheLayer {
    let decoded: MemoryCache<DecodeKey, DecodedImage>
    let results: MemoryCache<ResultKey, RenderedImage>
    let sources: MemoryCache<SourceKey, SourceBody>
    let records: MemoryCache<SourceKey, SourceRecord>
    let partialRecords: MemoryCache<SourceKey, PartialRecord>

    /// Enough for about 30,000 sources.
    private static let recordCapacity = 32 << 20
    private static let partialRecordCapacity = 4 << 20
    let name = LayerName.memory
    let holdsSources = true

    init(_ configuration: PipelineConfiguration, onEviction: @escaping @Sendable (Eviction) -> Void) {
        decoded = MemoryCache(configuration.decodedBounds, cost: \.byteCount, onEviction: onEviction)
        results = MemoryCache(configuration.resultBounds, cost: \.cost, onEviction: onEviction)
        sources = MemoryCache(configuration.sourceBounds, cost: \.cost, onEviction: onEviction)
        records = MemoryCache(CacheBounds(capacity: Self.recordCapacity), cost: \.cost)
        partialRecords = MemoryCache(CacheBounds(capacity: Self.partialRecordCapacity), cost: \.cost)
    }

    func setBounds(_ configuration: PipelineConfiguration) {
        decoded.setBounds(configuration.decodedBounds)
        results.setBounds(configuration.resultBounds)
        sources.setBounds(configuration.sourceBounds)
    }

    var health: LayerHealth {
        LayerHealth(caches: [
            NamedCache(name: "decoded", statistics: decoded.statistics),
            NamedCache(name: "result", statistics: results.statistics),
            NamedCache(name: "source", statistics: sources.statistics),
        ])
    }

    func lookup(_ key: CacheKey, newerThan stored: SourceRecord?, waits: LayerWaitBudgets) async -> LayerReply {
        LayerReply(value: value(for: key))
    }

    /// Looks up a value without waiting, for event threads.
    func value(for key: CacheKey) -> LayerValue? {
        switch key {
        case .record(let identity): records.value(for: SourceKey(source: identity)).map { .record($0) }
        // If two transfers of a source end at the same time, bytes and record may belong to different versions.
        case .source(let version):
            sources.value(for: SourceKey(source: version.source)) { $0.validator == version.validator }
                .map { .source($0.bytes) }
        case .result(let key): results.value(for: key).map { .result($0) }
        }
    }

    @discardableResult
    func store(_ value: LayerValue, for key: CacheKey, of records: PerSource<SourceRecord>) -> Bool {
        switch (key, value) {
        case (.record(let identity), .record(let record)): self.records.add(record, for: SourceKey(source: identity))
        case (.source(let version), .source(let bytes)):
            sources.add(SourceBody(validator: version.validator, bytes: bytes), for: SourceKey(source: version.source))
        case (.result(let key), .result(let result)): results.add(result, for: key)
        default: false
        }
    }

    /// Does nothing: ``TagIndex`` holds this instance's tags.
    func recordTags(_ tags: [ExactText], of identity: SourceIdentity, since checkpoints: TagCheckpoints) {}

    /// Returns the removed entries without records.
    @discardableResult
    func forget(_ removal: Removal) -> RemovedEntries {
        switch removal {
        case .value(.record(let identity)): records.remove(SourceKey(source: identity))
        case .value(.source(let version)): sources.remove(SourceKey(source: version.source))
        case .value(.result(let key)): results.remove(key)
        case .sources(let identities, _):
            return identities.reduce(RemovedEntries()) { removed, identity in
                records.removeAll(from: identity)
                partialRecords.removeAll(from: identity)
                return removed + removeDerived(from: identity)
            }
        case .tagged: break
        case .everything:
            records.removeAll()
            partialRecords.removeAll()
            return decoded.removeAll() + results.removeAll() + sources.removeAll()
        }
        return RemovedEntries()
    }

    @discardableResult
    func removeDerived(from identity: SourceIdentity) -> RemovedEntries {
        decoded.removeAll(from: identity) + results.removeAll(from: identity) + sources.removeAll(from: identity)
    }

    /// Whether pixels or results of the source are cached, which proves that some decode works.
    func hasDerived(from source: SourceIdentity) -> Bool {
        decoded.hasAny(from: source) || results.hasAny(from: source)
    }

    /// Changes when a result is removed or a source's record changes.
    var cacheVersion: Int { results.removalCount &+ records.removalCount }

    /// Bytes of keys, bookkeeping and records; `SharedBytes` blocks count themselves.
    var byteCountBesideBlocks: Int {
        decoded.keyUsage + results.keyUsage + sources.keyUsage + records.memoryUsage
            + partialRecords.memoryUsage
    }

    func evict(_ step: MemoryBudget.Eviction) -> Int {
        switch step {
        case .preferred: decoded.evictToPreferred() + results.evictToPreferred() + sources.evictToPreferred()
        case .empty: decoded.evictAll()
        }
    }
}

struct SourceBody: Sendable {
    let validator: SourceValidator
    let bytes: SharedBytes

    var cost: Int { bytes.footprint + 128 }
}

extension PipelineConfiguration {
    fileprivate var decodedBounds: CacheBounds {
        CacheBounds(capacity: decodedCacheCapacity, preferred: decodedCachePreferred, policy: decodedCachePolicy)
    }

    fileprivate var resultBounds: CacheBounds {
        CacheBounds(capacity: resultCacheCapacity, preferred: resultCachePreferred)
    }

    fileprivate var sourceBounds: CacheBounds { CacheBounds(capacity: sourceCacheMemory) }
}
