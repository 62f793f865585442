import Coordination

/// A closed door for threads that may block, which a test opens.
package final class ThreadGate: Sendable {
    private let isOpen = ConditionGuarded(false)

    /// A closed gate.
    package init() {}

    /// Blocks the calling thread until the gate is open.
    package func pass() {
        isOpen.blockingWait { $0 ? () : nil }
    }

    /// Opens the gate for waiting and future threads.
    package func open() {
        isOpen.withLock { $0 = true }
        isOpen.wakeAll()
    }
}
