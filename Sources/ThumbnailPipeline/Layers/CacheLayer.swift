import DiskCaching
import Downloading
import Memory
import SharedCaching
import Telemetry
import Text
import ThumbnailTypes

/// One level of the cache, such as memory, disk or Redis.
///
/// All layers have the same keys and values; layers other than memory store values encoded.
protocol CacheLayer: Sendable {
    var name: LayerName { get }
    var health: LayerHealth { get }
    /// Whether the layer stores the bytes of sources, besides records and results.
    var holdsSources: Bool { get }
    /// Whether instances share the layer, so that it may have values that they stored.
    var isShared: Bool { get }

    /// - Parameters:
    ///   - stored: A stale record; the layer skips the lookup if it is unlikely to have a newer one.
    ///   - waits: The time that the request has spent waiting for shared layers.
    func lookup(_ key: CacheKey, newerThan stored: SourceRecord?, waits: LayerWaitBudgets) async -> LayerReply

    func store(_ value: LayerValue, for key: CacheKey, of records: PerSource<SourceRecord>) -> Bool

    /// Stores a result later if the layer has no generation for a source yet; returns false if it can be stored now.
    func storeLater(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>, from caches: CacheLayers
    ) -> Bool

    /// Removes entries immediately or before any later operation; other instances keep their copies.
    @discardableResult
    func forget(_ removal: Removal) -> RemovedEntries

    /// Removes entries; in a shared layer also from all other instances.
    func purge(_ removal: Removal) async -> LayerRemoval

    func recordTags(_ tags: [ExactText], of identity: SourceIdentity, since checkpoints: TagCheckpoints)

    /// Returns the sources with a tag, including sources served by an earlier process.
    func sources(under tag: ExactText) async -> TaggedLabels

    func register(in registry: MetricsRegistry)
}

extension CacheLayer {
    var isShared: Bool { false }

    func storeLater(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>, from caches: CacheLayers
    ) -> Bool { false }

    func lookup(_ key: CacheKey) async -> LayerReply { await lookup(key, newerThan: nil, waits: LayerWaitBudgets()) }

    func purge(_ removal: Removal) async -> LayerRemoval { LayerRemoval(entries: forget(removal)) }

    func sources(under tag: ExactText) async -> TaggedLabels { TaggedLabels(isComplete: true) }

    func register(in registry: MetricsRegistry) {}
}

enum CacheKey: Sendable {
    case record(SourceIdentity)
    case source(SourceVersion)
    case result(ResultKey)

    var sources: [SourceIdentity] {
        switch self {
        case .record(let identity): [identity]
        case .source(let version): [version.source]
        case .result(let key): [key.source] + key.additionalSources
        }
    }
}

enum LayerValue: Sendable {
    case record(SourceRecord)
    case source(SharedBytes)
    case result(RenderedImage)

    var record: SourceRecord? { if case .record(let record) = self { record } else { nil } }
    var source: SharedBytes? { if case .source(let bytes) = self { bytes } else { nil } }
    var result: RenderedImage? { if case .result(let result) = self { result } else { nil } }

    var derivative: SourceRecord.Derivative {
        switch self {
        case .record: .record
        case .source: .source
        case .result: .result
        }
    }

    /// False for values from truncated sources, which only memory stores.
    func isComplete(of records: PerSource<SourceRecord>) -> Bool {
        result?.isIncomplete != true && records.allSatisfy { $0.incompleteUntil == nil }
    }
}

struct LayerReply: Sendable {
    var value: LayerValue?
    /// Whether the layer was contacted; `Cache-Status` and traces report only these lookups.
    var wasQueried = false
}

/// The states of tags before a source was requested under them.
typealias TagCheckpoints = [ExactText: TagCheckpoint]

enum Removal: Sendable {
    case value(CacheKey)
    /// - Parameter name: The operator's spelling; nil uses the source's canonical name.
    case sources([SourceIdentity], name: ExactText? = nil)
    /// Local layers ignore tag removals; their caller resolves the tags to sources first.
    case tagged(TagRemoval)
    case everything
}

struct LayerRemoval: Sendable {
    /// Removed entries; shared layers do not count them.
    var entries = RemovedEntries()
    var state = RemovalState.done
}
