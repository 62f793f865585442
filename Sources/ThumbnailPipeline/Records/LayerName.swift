import Coordination
import SharedCaching
import ThumbnailTypes

struct LayerName: Hashable, Sendable {
    let member: String
    /// The name in the help of metrics, and with underscores in metric names.
    let words: String
    /// The name in `Cache-Status`; memory and the disk count as the result cache.
    let status: CacheLayerStatus.Layer

    static let memory = LayerName(member: "memory", words: "memory", status: .result)
    static let disk = LayerName(member: "diskCache", words: "disk cache", status: .result)
    static let sharedCache = LayerName(member: "sharedCache", words: "shared cache", status: .shared)
    static let resultStore = LayerName(member: "resultStore", words: "result store", status: .store)
}

package enum LayerState: String, Sendable {
    case up
    /// Read-only, because it has no room.
    case full
    /// Too slow or failing, and being probed.
    case suspended
    /// Without a connection; for the disk cache, disabled for a while.
    case down
}

struct LayerHealth: Sendable {
    var state = LayerState.up
    /// The figures of its caches by name, in the documented order; none for a shared layer.
    var statistics: [(name: String, statistics: CacheStatistics)] = []
}

typealias LayerGenerations = [LayerName: SharedGenerations]

extension LayerGenerations {
    func filled(from others: LayerGenerations) -> LayerGenerations { merging(others) { generation, _ in generation } }
}

/// The time that one request has waited for each of the shared layers.
package final class LayerAllowances: Sendable {
    private let budgets = Locked<[LayerName: WaitBudget]>([:])

    package init() {}

    subscript(layer: LayerName) -> WaitBudget {
        budgets.withLock { budgets in
            let budget = budgets[layer] ?? WaitBudget()
            budgets[layer] = budget
            return budget
        }
    }
}
