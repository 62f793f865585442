import Downloading
import Memory
import SharedCaching
import Telemetry
import Text
import ThumbnailTypes

/// A cache that requests pass: memory, the disk, the shared cache or the result store.
///
/// All layers have the same keys and values; those outside of memory translate the keys to names of their own, and
/// store the values in their encoded form.
protocol CacheLayer: Sendable {
    var name: LayerName { get }
    var health: LayerHealth { get }
    /// Whether it stores the bytes of sources, and not only records and results.
    var holdsSources: Bool { get }

    /// Looks up a value.
    ///
    /// - Parameters:
    ///   - known: The known record of the source, which is not fresh; nothing is looked up if a newer one is unlikely.
    ///   - allowances: The time that the request has waited for the shared layers.
    func lookup(_ key: CacheKey, newerThan known: SourceRecord?, _ allowances: LayerAllowances) async -> LayerReply

    /// Stores a value derived from these records, or queues its write; returns whether it was accepted.
    func store(_ value: LayerValue, for key: CacheKey, of records: PerSource<SourceRecord>) -> Bool

    /// Removes entries at once or before any other work; other instances keep their own copies.
    ///
    /// - Returns: The entries removed at once.
    @discardableResult
    func forget(_ removal: Removal) -> RemovedEntries

    /// Removes entries, in a shared layer also from all other instances.
    func remove(_ removal: Removal) async -> LayerRemoval

    /// Records that a source was served under tags.
    func note(_ tags: [ExactText], of identity: SourceIdentity, since beginnings: TagBeginnings)

    /// Returns the names of the sources served under a tag, by this instance or an earlier one, and whether the list is
    /// complete.
    func sources(under tag: ExactText) async -> (names: [String], isComplete: Bool)

    func register(in registry: MetricsRegistry)
}

extension CacheLayer {
    var isUp: Bool { [.up, .full].contains(health.state) }

    func lookup(_ key: CacheKey) async -> LayerReply { await lookup(key, newerThan: nil, LayerAllowances()) }

    func remove(_ removal: Removal) async -> LayerRemoval { LayerRemoval(entries: forget(removal)) }

    func sources(under tag: ExactText) async -> (names: [String], isComplete: Bool) { ([], true) }

    func register(in registry: MetricsRegistry) {}
}

enum CacheKey: Sendable {
    /// The record of a source.
    case record(SourceIdentity)
    /// The bytes of a version of a source.
    case source(SourceVersion)
    case result(ResultKey)

    /// The sources of the value; the image comes first.
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
    /// The bytes of a version.
    case source(SharedBytes)
    case result(RenderedImage)

    var record: SourceRecord? { if case .record(let record) = self { record } else { nil } }
    var source: SharedBytes? { if case .source(let bytes) = self { bytes } else { nil } }
    var result: RenderedImage? { if case .result(let result) = self { result } else { nil } }

    /// Whether no pixels are missing; only memory stores other values.
    func isComplete(of records: PerSource<SourceRecord>) -> Bool {
        result?.isIncomplete != true && records.allSatisfy { $0.incompleteUntil == nil }
    }
}

/// The result of a lookup in one layer.
struct LayerReply: Sendable {
    var value: LayerValue?
    /// Whether a server was queried; `Cache-Status` and traces report only such lookups.
    var wasQueried = false
}

/// The states of tags before a source was requested under them.
typealias TagBeginnings = [ExactText: TagBeginning]

/// The entries to be removed from a layer.
enum Removal: Sendable {
    case value(CacheKey)
    /// Everything derived from sources.
    ///
    /// - Parameter name: The source as named by the operator, if there is one; otherwise its own name is used.
    case sources([SourceIdentity], name: ExactText? = nil)
    /// Everything derived from the sources requested under a tag; layers of one instance leave these to their caller.
    case tagged(TagRemoval)
    case everything
}

/// The outcome of a removal from layers.
struct LayerRemoval: Sendable {
    /// The removed entries; empty for shared layers, which do not count them.
    var entries = RemovedEntries()
    var state = RemovalState.done
}
