/// One layer's member of `Cache-Status` (RFC 9211).
package struct CacheLayerStatus: Hashable, Sendable {
    /// A cache of the service.
    package enum Layer: String, Sendable, Hashable {
        case result = "alula-result"
        case shared = "alula-shared"
        case store = "alula-store"
        case decoded = "alula-decoded"
        case source = "alula-source"
    }

    /// The layer's result (RFC 9211 sections 2.1 and 2.2).
    package enum Outcome: String, Sendable, Hashable {
        case hit = "hit"
        case uriMiss = "fwd=uri-miss"
        case varyMiss = "fwd=vary-miss"
        case stale = "fwd=stale"
        case request = "fwd=request"
    }

    /// The cache.
    package var layer: Layer
    /// Hit, or why it went further.
    package var outcome: Outcome
    /// The request joined another's work.
    package var isCollapsed: Bool
    /// The request filled this layer.
    package var isStored: Bool
    /// The status that the next layer outward answered, if that is not simply its success.
    package var forwardStatus: Int?
    /// Seconds until the source is stale; given if it is negative, that is stale already.
    package var timeToLive: Int?

    /// A member for `layer`.
    package init(
        _ layer: Layer, _ outcome: Outcome, isCollapsed: Bool = false, isStored: Bool = false,
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

/// How long one step took.
package struct StepTiming: Hashable, Sendable {
    /// The metric name: a token.
    package let name: String
    /// The time it took.
    package let duration: Duration

    /// A step of this name, a token.
    package init(_ name: String, _ duration: Duration) {
        self.name = name
        self.duration = duration
    }
}
