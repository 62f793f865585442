import Glibc

/// Signals that one thread waits for and that do not interrupt other threads.
package struct AwaitedSignals: Sendable {
    private let signals: sigset_t

    /// Blocks the signals in the calling thread and all later threads; must run before other threads exist.
    package init(_ numbers: [CInt]) {
        signals = Self.set(of: numbers)
        var signals = signals
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    package func blockingNext() -> CInt {
        var signals = signals
        var number = CInt(0)
        while unsafe sigwait(&signals, &number) != 0 {}
        return number
    }

    package static func unblock(_ number: CInt) {
        var signals = set(of: [number])
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    private static func set(of numbers: [CInt]) -> sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in numbers { unsafe sigaddset(&signals, number) }
        return signals
    }
}
