import Telemetry

/// Counts what becomes of workers.
struct SandboxMetrics: Sendable {
    /// Why a worker is no more.
    enum Cause: String, CaseIterable {
        /// It ended by itself, or somebody ended or stopped it.
        case crash
        /// The kernel ended it over a system call or a limit, or it said what it must not.
        case violation
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
