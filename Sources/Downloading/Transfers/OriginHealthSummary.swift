import Coordination
import Crypto
import HTTPTypes
import Memory
import Synchronization

package struct OriginHealthSummary: Sendable, Equatable {
    package var origins: [OriginSnapshot] = []
    package var suspensions = 0
}

package struct OriginSnapshot: Sendable, Equatable {
    package let origin: OriginKey
    package let isReachable: Bool?
    package let isSuspended: Bool
    package var cause: String?
    /// Nil if the next transfer is the probe, or none are rejected.
    package let retryAfter: Duration?
    /// Whether one of its sources has worked, or the settings name it: clients cannot invent such an origin.
    package var isProven = false
    /// Whether an operator holds the origin.
    package var isHeld = false
}
