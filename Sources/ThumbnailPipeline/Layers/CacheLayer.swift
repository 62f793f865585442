import Downloading
import Memory
import SharedCaching
import Telemetry
import Text
import ThumbnailTypes

/// A cache that requests pass.
///
/// All layers have the same keys and values; those outside of memory store values in their encoded form.
protocol CacheLayer: Sendable {
    var name: LayerName { get }
    var health: LayerHealth { get }
    /// Whether it stores sources besides records and results.
    var holdsSources: Bool { get }

    /// - Parameters:
    ///   - stored: The source's stale record; nothing is looked up if a newer one is unlikely.
    ///   - allowances: The time that the request has waited for the shared layers.
    func lookup(_ key: CacheKey, newerThan stored: SourceRecord?, _ allowances: LayerAllowances) async -> LayerReply

    func store(_ value: LayerValue, for key: CacheKey, of records: PerSource<SourceRecord>) -> Bool

    /// Nil if the layer can store results of these sources now.
    func deferredWrite(for records: PerSource<SourceRecord>, in caches: CacheLayers) -> DeferredSharedWrite?

    /// Removes entries at once or before any other work; other instances keep their own copies.
    @discardableResult
    func forget(_ removal: Removal) -> RemovedEntries

    /// Removes entries; in a shared layer also from all other instances.
    func remove(_ removal: Removal) async -> LayerRemoval

    func recordTags(_ tags: [ExactText], of identity: SourceIdentity, since checkpoints: TagCheckpoints)

    /// The sources under a tag, including those that an earlier process served.
    func sources(under tag: ExactText) async -> (names: [String], isComplete: Bool)

    func register(in registry: MetricsRegistry)
}

extension CacheLayer {
    func lookup(_ key: CacheKey) async -> LayerReply { await lookup(key, newerThan: nil, LayerAllowances()) }

    func deferredWrite(for records: PerSource<SourceRecord>, in caches: CacheLayers) -> DeferredSharedWrite? { nil }

    func remove(_ removal: Removal) async -> LayerRemoval { LayerRemoval(entries: forget(removal)) }

    func sources(under tag: ExactText) async -> (names: [String], isComplete: Bool) { ([], true) }

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

    /// Whether no pixels are missing; only memory stores other values.
    func isComplete(of records: PerSource<SourceRecord>) -> Bool {
        result?.isIncomplete != true && records.allSatisfy { $0.incompleteUntil == nil }
    }
}

struct LayerReply: Sendable {
    var value: LayerValue?
    /// `Cache-Status` and traces report only such lookups.
    var wasQueried = false
}

/// The states of tags before a source was requested under them.
typealias TagCheckpoints = [ExactText: TagCheckpoint]

enum Removal: Sendable {
    case value(CacheKey)
    /// - Parameter name: As written by the operator; nil for the source's own name.
    case sources([SourceIdentity], name: ExactText? = nil)
    /// Layers of one instance leave these to their caller.
    case tagged(TagRemoval)
    case everything
}

struct LayerRemoval: Sendable {
    /// The removed entries, which shared layers do not count.
    var entries = RemovedEntries()
    var state = RemovalState.done
}
