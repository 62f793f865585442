/// The health of all origins asked lately.
package struct OriginHealthSummary: Sendable, Equatable {
    /// The origins by name.
    package var origins: [OriginSnapshot] = []
    /// Suspensions so far.
    package var suspensions = 0
}

/// The health of one origin as operators see it.
package struct OriginSnapshot: Sendable, Equatable {
    /// Scheme, host and port.
    package let origin: OriginKey
    /// Whether the last transfer that said anything succeeded; nil while nothing is known.
    package let isReachable: Bool?
    /// Whether transfers are being refused.
    package let isSuspended: Bool
    /// How long they will be refused at least; nil when the next one would be the probe, or when none are.
    package let retryAfter: Duration?
    /// Whether a source of it has worked, or the settings name it: no client can make up such an origin.
    package var isProven = false
}
