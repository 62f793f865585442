import Coordination
import SharedCaching

extension LayerGenerations {
    /// The generations in one layer.
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

/// The time that one request has waited for each of the layers that instances share.
package struct LayerAllowances: Sendable {
    let cache = WaitAllowance()
    let store = WaitAllowance()

    /// Nothing is spent yet.
    package init() {}

    subscript(layer: SharedTier.Layer) -> WaitAllowance { layer == .cache ? cache : store }
}
