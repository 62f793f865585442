import Coordination
import Downloading

package struct OriginStatus: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case unknown
        case reachable
        case notReachable = "not_reachable"
        /// The origin is not contacted for some time, because too many transfers failed.
        case suspended
        /// The origin is not contacted until an operator resumes it.
        case held

        init(_ origin: OriginSnapshot) {
            if origin.isHeld {
                self = .held
            } else if origin.isSuspended {
                self = .suspended
            } else {
                self = origin.isReachable.map { $0 ? .reachable : .notReachable } ?? .unknown
            }
        }
    }

    /// Scheme, host and port, or `NAME:` for a folder.
    package var origin: String
    package var state: State
    package var cause: String?
    package var retryAfterSeconds: Double?
    package var names: [String] = []
    /// Whether an image was ever fetched from the origin or the settings name it; clients can invent any other name.
    package var isProven = false
}

extension OriginStatus {
    init(_ origin: OriginSnapshot, names: [String] = []) {
        self.init(
            origin: origin.origin.description,
            state: State(origin),
            cause: origin.cause, retryAfterSeconds: origin.retryAfter?.seconds, names: names, isProven: origin.isProven)
    }
}
