/// A member of `Cache-Status` (RFC 9211).
package struct CacheLayerStatus: Hashable, Sendable {
    package enum Layer: String, Sendable, Hashable {
        case result = "alula-result"
        case shared = "alula-shared"
        case store = "alula-store"
        case decoded = "alula-decoded"
        case source = "alula-source"
    }

    /// The result of a lookup (RFC 9211 sections 2.1 and 2.2).
    package enum Outcome: String, Sendable, Hashable {
        case hit = "hit"
        case uriMiss = "fwd=uri-miss"
        case varyMiss = "fwd=vary-miss"
        case stale = "fwd=stale"
        case request = "fwd=request"
    }

    package var layer: Layer
    package var outcome: Outcome
    package var isCollapsed: Bool
    package var isStored: Bool
    /// The status of the next layer, if not simply success.
    package var forwardStatus: Int?
    /// The remaining lifetime in seconds; negative if the source is already stale.
    package var timeToLive: Int?

    package init(
        _ layer: Layer, outcome: Outcome, isCollapsed: Bool = false, isStored: Bool = false,
        forwardStatus: Int? = nil, timeToLive: Int? = nil
    ) {
        self.layer = layer
        self.outcome = outcome
        self.isCollapsed = isCollapsed
        self.isStored = isStored
        self.forwardStatus = forwardStatus
        self.timeToLive = timeToLive
    }
}
