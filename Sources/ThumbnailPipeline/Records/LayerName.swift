import Coordination
import SharedCaching
import ThumbnailTypes

/// The layers, in the order of lookups.
enum LayerName: Comparable, Sendable {
    case memory, disk, shared, store

    /// Whether other instances use it too.
    var isShared: Bool { self == .shared || self == .store }

    /// The name in `Cache-Status`; nil for memory and the disk, which count as the result cache.
    var status: CacheLayerStatus.Layer? {
        switch self {
        case .memory, .disk: nil
        case .shared: .shared
        case .store: .store
        }
    }
}

/// The generations of a source in the shared layers before it was fetched or found there; nil where unknown.
struct LayerGenerations: Sendable, Equatable {
    private(set) var shared: SharedGenerations?
    private(set) var store: SharedGenerations?

    init() {}

    /// Sets the generations in one layer.
    init(_ generations: SharedGenerations?, of layer: LayerName) {
        switch layer {
        case .memory, .disk: break
        case .shared: shared = generations
        case .store: store = generations
        }
    }

    subscript(layer: LayerName) -> SharedGenerations? {
        switch layer {
        case .memory, .disk: nil
        case .shared: shared
        case .store: store
        }
    }

    /// Returns these generations, with unknown ones taken from `others`.
    func filled(from others: LayerGenerations) -> LayerGenerations {
        var filled = self
        filled.shared = shared ?? others.shared
        filled.store = store ?? others.store
        return filled
    }
}

/// The time that one request has waited for each of the shared layers.
package struct LayerAllowances: Sendable {
    let shared = WaitBudget()
    let store = WaitBudget()

    package init() {}

    subscript(layer: LayerName) -> WaitBudget { layer == .store ? store : shared }
}
