import Coordination
import Glibc
import TestSupport
import Testing

@testable import DiskCaching

/// Keeps a store's thread busy until it is let go: a disk that does not answer.
final class ThreadHold: Sendable {
    private let isReleased = Locked(false)
    private let isBusy = Locked(false)

    /// A hold on the store's thread, which is busy when this returns.
    static func take(_ store: DiskStore) async -> ThreadHold {
        let hold = ThreadHold()
        Task { await store.withDatabase { _ in hold.occupy() } }
        #expect(await eventually(within: .seconds(40)) { hold.isBusy.withLock { $0 } })
        return hold
    }

    /// Lets the thread go.
    func release() { isReleased.withLock { $0 = true } }

    private func occupy() {
        isBusy.withLock { $0 = true }
        while !isReleased.withLock({ $0 }) { usleep(200) }
    }
}
