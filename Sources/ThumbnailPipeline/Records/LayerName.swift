import SharedCaching
import ThumbnailTypes

struct LayerName: Hashable, Sendable {
    let member: String
    /// The name in the help of metrics; with underscores, the name in metric names.
    let words: String
    /// The name in `Cache-Status`; memory and disk both count as the result cache.
    let status: CacheLayerStatus.Layer

    static let memory = LayerName(member: "memory", words: "memory", status: .result)
    static let disk = LayerName(member: "diskCache", words: "disk cache", status: .result)
    static let sharedCache = LayerName(member: "sharedCache", words: "shared cache", status: .shared)
    static let resultStore = LayerName(member: "resultStore", words: "result store", status: .store)
}

package enum LayerState: String, Sendable {
    case up
    /// Read-only, because its storage is full.
    case full
    /// Suspended because it is slow or failing; probes check whether it recovers.
    case suspended
    /// Not connected; for the disk cache, temporarily disabled.
    case down
}

struct LayerHealth: Sendable {
    var state = LayerState.up
    /// Its caches in the documented order; empty for a shared layer.
    var caches: [NamedCache] = []
}

typealias LayerGenerations = [LayerName: SharedGenerations]

extension LayerGenerations {
    func filled(from others: LayerGenerations) -> LayerGenerations { merging(others) { generation, _ in generation } }
}
