import Coordination

/// A closed gate for threads that may block; a test can wait for arrivals and opens it.
package final class ThreadGate: Sendable {
    private let isOpen = ConditionGuarded(false)
    private let arrivals = EventCounter()

    package init() {}

    /// Blocks the calling thread until the gate is open.
    package func pass() {
        arrivals.increment()
        isOpen.blockingWait { $0 ? () : nil }
    }

    /// Waits until `count` threads have arrived.
    package func arrivals(_ count: Int) async { await arrivals.reached(count) }

    /// Opens the gate for good.
    package func open() {
        isOpen.withLock { $0 = true }
        isOpen.wakeAll()
    }
}

/// Blocks a thread until it is released.
package final class ThreadHold: Sendable {
    private let gate = ThreadGate()

    private init() {}

    /// Blocks the thread on which `run` calls its argument; returns when it is blocked.
    package static func take(
        _ run: @escaping @Sendable (_ occupy: @escaping @Sendable () -> Void) async -> Void
    ) async -> ThreadHold {
        let hold = ThreadHold()
        Task { await run { hold.gate.pass() } }
        await hold.gate.arrivals(1)
        return hold
    }

    package func release() { gate.open() }
}
