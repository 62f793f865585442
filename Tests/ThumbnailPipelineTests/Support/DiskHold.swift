import TestSupport

@testable import DiskCaching

/// Keeps a store's thread busy until it is let go: a disk that does not answer.
final class DiskHold: Sendable {
    private let arrival = Gate()
    private let gate = ThreadGate()

    /// A hold on the store's thread, which is busy when this returns.
    static func take(_ store: DiskStore) async -> DiskHold {
        let hold = DiskHold()
        Task { await store.withDatabase { _ in hold.occupy() } }
        await hold.arrival.pass()
        return hold
    }

    /// Lets the thread go.
    func release() { gate.open() }

    private func occupy() {
        arrival.open()
        gate.pass()
    }
}
