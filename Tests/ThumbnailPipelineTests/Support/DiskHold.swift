import Coordination
import Foundation
import TestSupport
import Testing

@testable import DiskCaching

/// Keeps a store's thread busy until it is let go: a disk that does not answer.
final class DiskHold: Sendable {
    private let isHeld = DispatchSemaphore(value: 0)
    private let mayGoOn = DispatchSemaphore(value: 0)

    /// A hold on the store's thread, which is busy when this returns.
    static func take(_ store: DiskStore) async throws -> DiskHold {
        let hold = DiskHold()
        Task { await store.withDatabase { _ in hold.occupy() } }
        try #require(await eventually(within: .patience) { hold.isHeld.wait(timeout: .now()) == .success })
        return hold
    }

    /// Lets the thread go.
    func release() { mayGoOn.signal() }

    private func occupy() {
        isHeld.signal()
        mayGoOn.wait()
    }
}
