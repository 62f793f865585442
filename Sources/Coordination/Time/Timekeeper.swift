import CLinux  // In release builds, `timespec` belongs to this module.
import Glibc

/// A clock: the system's in production, a manual one in tests.
package protocol Timekeeper: Sendable {
    var now: Duration { get }

    /// The wall-clock time, which can go backward.
    var secondsSince1970: Int { get }

    /// The wall-clock time in nanoseconds.
    var nanosecondsSince1970: Int64 { get }

    /// - Throws: `CancellationError` if the task is canceled.
    func sleep(until deadline: Duration) async throws
}

extension Timekeeper {
    package var nanosecondsSince1970: Int64 { Int64(secondsSince1970) * 1_000_000_000 }
}

package struct SystemTimekeeper: Timekeeper {
    package init() {}

    package var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    package static var threadProcessorTime: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    package var secondsSince1970: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return time.tv_sec
    }

    package var nanosecondsSince1970: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Sleeps until a time of the monotonic clock.
    package func sleep(until deadline: Duration) async throws {
        let remaining = deadline - now
        guard remaining > .zero else { return }
        guard let timers = TimerQueue.shared else {
            return try await Task.sleep(for: remaining, tolerance: .milliseconds(1))
        }
        try await timers.sleep(until: deadline)
    }
}

extension Duration {
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

    /// The duration in nanoseconds, capped at 292 years.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflows ? (seconds < 0 ? .min : .max) : product &+ attoseconds / 1_000_000_000
    }

    package var milliseconds: Double { seconds * 1_000 }
}
