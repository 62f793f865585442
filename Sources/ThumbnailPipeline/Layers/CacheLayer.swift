import Downloading
import ImageCaching
import Memory
import SharedCaching
import Text

/// A cache below memory: the disk, the shared cache or the result store.
///
/// All layers have the same keys and values; each translates the keys to names of its own.
protocol CacheLayer: Sendable {
    var name: LayerName { get }
    /// Whether it is in use.
    var isUp: Bool { get }
    /// Whether it holds the bytes of sources, and not only records and results.
    var holdsSources: Bool { get }

    /// Returns whether a value of these sources may be stored here.
    func mayHold(_ key: CacheKey) -> Bool

    /// Returns whether it is worth waiting for a newer record than this one, which is not fresh.
    func mayImprove(_ known: SourceRecord) -> Bool

    func lookup(_ key: CacheKey, _ allowances: LayerAllowances) async -> LayerReply

    /// Queues a write of a value derived from these records; returns whether it was accepted.
    func store(_ value: CacheValue, for key: CacheKey, of records: PerSource<SourceRecord>) -> Bool

    /// Begins a request for a source under tags.
    func begin(_ tags: [ExactText], of identity: SourceIdentity) -> TagBeginnings

    /// Records that a source was served under tags.
    func note(_ tags: [ExactText], of identity: SourceIdentity, since beginnings: TagBeginnings)

    /// Queues the removal of everything derived from sources; other instances keep their own copies.
    func forget(_ identities: [SourceIdentity])

    /// Removes entries, in a shared layer also from all other instances.
    func remove(_ removal: Removal) async -> LayerRemoval
}

/// The key of a value in the layers.
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

/// The result of a lookup in one layer.
struct LayerReply: Sendable {
    var value: CacheValue?
    /// Whether a server was queried; `Cache-Status` and traces report only such lookups.
    var wasAsked = false
    /// The generations of the source whose record was looked up.
    var generations = LayerGenerations()
}

/// The states of tags before a source was requested under them.
typealias TagBeginnings = [ExactText: TagBeginning]

/// The entries to be removed from a layer.
enum Removal: Sendable {
    /// Everything derived from sources.
    ///
    /// - Parameter name: The source as named by the operator, if there is one; otherwise its own name is used.
    case sources([SourceIdentity], name: ExactText? = nil)
    case everything
}

/// The outcome of a removal from layers.
struct LayerRemoval: Sendable {
    /// The removed entries; empty for shared layers, which do not count them.
    var entries = RemovedEntries()
    var state = RemovalState.done
}
