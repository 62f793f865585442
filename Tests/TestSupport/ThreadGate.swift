import Coordination

/// A closed door for threads that may block, which a test opens; the test can wait until enough of them have arrived.
package final class ThreadGate: Sendable {
    private let isOpen = ConditionGuarded(false)
    private let arrivals = EventCounter()

    package init() {}

    /// Blocks the calling thread until the gate is open.
    package func pass() {
        arrivals.increment()
        isOpen.blockingWait { $0 ? () : nil }
    }

    /// Waits until `count` threads have come to the gate.
    package func arrivals(_ count: Int) async { await arrivals.reached(count) }

    /// Opens the gate for waiting and future threads.
    package func open() {
        isOpen.withLock { $0 = true }
        isOpen.wakeAll()
    }
}

/// Keeps a thread busy until it is released.
package final class ThreadHold: Sendable {
    private let gate = ThreadGate()

    private init() {}

    /// A hold on the thread on which `run` calls its argument; busy when this returns.
    package static func take(
        _ run: @escaping @Sendable (_ occupy: @escaping @Sendable () -> Void) async -> Void
    ) async -> ThreadHold {
        let hold = ThreadHold()
        Task { await run { hold.gate.pass() } }
        await hold.gate.arrivals(1)
        return hold
    }

    /// Releases the thread.
    package func release() { gate.open() }
}
