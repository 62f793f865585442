/// Keeps a thread busy until it is released.
package final class ThreadHold: Sendable {
    private let arrival = Gate()
    private let gate = ThreadGate()

    private init() {}

    /// A hold on the thread on which `run` calls its argument; busy when this returns.
    package static func take(
        _ run: @escaping @Sendable (_ occupy: @escaping @Sendable () -> Void) async -> Void
    ) async -> ThreadHold {
        let hold = ThreadHold()
        Task { await run { hold.occupy() } }
        await hold.arrival.pass()
        return hold
    }

    /// Releases the thread.
    package func release() { gate.open() }

    private func occupy() {
        arrival.open()
        gate.pass()
    }
}
