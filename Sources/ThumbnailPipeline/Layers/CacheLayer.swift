import Downloading
import Memory
import SharedCaching
import Text

/// A cache that requests pass: memory, the disk, the shared cache or the result store.
///
/// All layers have the same keys and values; those outside of memory translate the keys to names of their own, and
/// store the values in their encoded form.
protocol CacheLayer: Sendable {
    var name: LayerName { get }
    /// Whether it is in use.
    var isUp: Bool { get }
    /// Whether it holds the bytes of sources, and not only records and results.
    var holdsSources: Bool { get }

    /// Returns whether a value of these sources may be stored here.
    func mayHold(_ key: CacheKey) -> Bool

    /// Returns whether it is worth waiting for a newer record than this one, which is not fresh.
    func mayHaveNewer(_ known: SourceRecord) -> Bool

    func lookup(_ key: CacheKey, _ allowances: LayerAllowances) async -> LayerReply

    /// Stores a value derived from these records, or queues its write; returns whether it was accepted.
    func store(_ value: LayerValue, for key: CacheKey, of records: PerSource<SourceRecord>) -> Bool

    /// Removes a value whose source was removed while it was stored.
    func remove(_ key: CacheKey)

    /// Begins a request for a source under tags.
    func begin(_ tags: [ExactText], of identity: SourceIdentity) -> TagBeginnings

    /// Records that a source was served under tags.
    func note(_ tags: [ExactText], of identity: SourceIdentity, since beginnings: TagBeginnings)

    /// Removes everything derived from a source, at once or before any other work; other instances keep their own
    /// copies.
    ///
    /// - Returns: The entries removed at once.
    @discardableResult
    func forget(_ identities: [SourceIdentity]) -> RemovedEntries

    /// Removes entries, in a shared layer also from all other instances.
    func remove(_ removal: Removal) async -> LayerRemoval

    /// The figures of its caches by name, in the documented order; none for a shared layer.
    var figures: [(name: String, figures: CacheFigures)] { get }
}

extension CacheLayer {
    func remove(_ key: CacheKey) {}

    func begin(_ tags: [ExactText], of identity: SourceIdentity) -> TagBeginnings { [:] }

    var figures: [(name: String, figures: CacheFigures)] { [] }
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
    case source(SourceBody)
    case result(RenderedImage)

    var record: SourceRecord? { if case .record(let record) = self { record } else { nil } }
    var source: SharedBytes? { if case .source(let body) = self { body.bytes } else { nil } }
    var result: RenderedImage? { if case .result(let result) = self { result } else { nil } }
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
    /// Everything derived from sources.
    ///
    /// - Parameter name: The source as named by the operator, if there is one; otherwise its own name is used.
    case sources([SourceIdentity], name: ExactText? = nil)
    /// Everything derived from the sources requested under a tag.
    case tagged(TagRemoval)
    case everything
}

/// The outcome of a removal from layers.
struct LayerRemoval: Sendable {
    /// The removed entries; empty for shared layers, which do not count them.
    var entries = RemovedEntries()
    var state = RemovalState.done
}

/// The outcome of an insufficient lookup in the shared cache: the task that continues does not repeat its queries.
package struct EarlierLookup: Sendable {
    /// The time that the request has waited for the shared layers.
    var allowances = LayerAllowances()
    /// Whether the record of the source was queried.
    var hasQueriedRecord = false
    /// The key of the result that was queried, and its reply; a large one is first read here, not on an event thread.
    var result: (key: ResultKey, read: @Sendable () -> LayerReply)?

    package init() {}

    /// Returns the reply of a layer for a result; nil if it was not queried.
    func reply(of layer: LayerName, for key: ResultKey) -> LayerReply? {
        layer == .shared && result?.key == key ? result?.read() : nil
    }
}
