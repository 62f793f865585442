import Telemetry

/// Counts what becomes of workers.
struct SandboxMetrics: Sendable {
    /// Why a worker is no more.
    enum Cause: String, CaseIterable {
        /// It ended by itself: a fault in a decoder.
        case crash
        /// Somebody killed it or stopped it: the kernel where memory is short, or a person.
        case killed
        /// It used more CPU time, or wrote more bytes, than it was granted.
        case limit
        /// It tried a system call that no decoder needs.
        case violation
        /// It said what is not true or was not asked, or worked on nothing.
        case breach
        /// Its picture took longer than it may.
        case deadline
        /// Its picture took far more CPU time than its head lets expect.
        case exhausted
        /// Nobody waited for its picture any more.
        case cancelled
        /// It had done enough.
        case recycled
    }

    private let ends: CounterFamily
    /// Pictures that were given to a second worker.
    let retries: Counter
    /// Contents that were put into quarantine.
    let quarantined: Counter

    init(registry: MetricsRegistry) {
        ends = registry.counters(
            "alula_decode_worker_ends_total", help: "Decode workers that ended, each replaced.", labels: "cause")
        retries = registry.counter(
            "alula_decode_retries_total", help: "Pictures given to another worker because the first ended.")
        quarantined = registry.counter(
            "alula_quarantined_total",
            help: "Contents that ended workers, or kept one busy too long, and are refused for a while.")
    }

    func ended(_ cause: Cause) { ends.counter(cause.rawValue).increment() }
}
