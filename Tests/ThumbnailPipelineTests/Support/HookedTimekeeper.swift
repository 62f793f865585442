import Coordination
import TestSupport

/// A manual clock that runs a closure when the pipeline reads it, so that a test can act between two steps.
final class HookedTimekeeper: Timekeeper {
    let clock = ManualTimekeeper()
    private let hook = Locked<(@Sendable () -> Void)?>(nil)

    /// Runs `body` once, the next time the monotonic clock is read.
    func atNextLook(_ body: @escaping @Sendable () -> Void) { hook.withLock { $0 = body } }

    var now: Duration {
        let body = hook.withLock { hook in
            defer { hook = nil }
            return hook
        }
        body?()
        return clock.now
    }

    var secondsSince1970: Int { clock.secondsSince1970 }

    func sleep(until deadline: Duration) async throws { try await clock.sleep(until: deadline) }
}
