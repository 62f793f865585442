import Coordination
import SharedCaching

extension LayerGenerations {
    init(_ generations: SharedGenerations?, of layer: SharedTier.Layer) {
        self.init()
        switch layer {
        case .cache: cache = generations
        case .store: store = generations
        }
    }

    subscript(layer: SharedTier.Layer) -> SharedGenerations? {
        switch layer {
        case .cache: cache
        case .store: store
        }
    }
}

/// The time that one request has waited for each of the shared layers.
package struct LayerAllowances: Sendable {
    let cache = WaitAllowance()
    let store = WaitAllowance()

    package init() {}

    subscript(layer: SharedTier.Layer) -> WaitAllowance { layer == .cache ? cache : store }
}
