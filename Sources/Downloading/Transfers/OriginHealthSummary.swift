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
    /// Time until transfers are admitted again; nil if the next transfer is the probe, or none are rejected.
    package let retryAfter: Duration?
    /// Whether an image was ever fetched from the origin or the settings name it; clients can invent any other name.
    package var isProven = false
    /// Whether an operator has paused the origin.
    package var isHeld = false
}
