import SharedCaching

/// The generations of a source in the shared cache and in the result store before it was fetched or found there; nil
/// where they are not known.
struct LayerGenerations: Sendable, Equatable {
    var cache: SharedGenerations?
    var store: SharedGenerations?

    /// These, and where they are not known the others.
    func filled(from others: LayerGenerations) -> LayerGenerations {
        LayerGenerations(cache: cache ?? others.cache, store: store ?? others.store)
    }
}
