package struct OriginHealthSummary: Sendable, Equatable {
    package var origins: [OriginSnapshot] = []
    package var suspensions = 0
}

/// The health of one origin as operators see it.
package struct OriginSnapshot: Sendable, Equatable {
    package let origin: OriginKey
    /// Whether the last conclusive transfer succeeded; nil while nothing is known.
    package let isReachable: Bool?
    package let isSuspended: Bool
    /// The cause of the suspension: `no_response` or `server_errors`.
    package var cause: String?
    /// The minimum time for which they will be rejected; nil if the next one is the probe, or none are rejected.
    package let retryAfter: Duration?
    /// Whether one of its sources has worked, or the settings name it: clients cannot invent such an origin.
    package var isProven = false
}
