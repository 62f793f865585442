import CLinux
import Glibc

/// A value with a lock and a condition, so that threads can wait for changes.
///
/// For threads that may block; tasks must never wait here. As with ``Locked``, resume no continuation and call no
/// foreign code while holding the lock.
@safe
package final class ConditionGuarded<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ value: Value) {
        self.value = value
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Changes the value without waking a thread.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Wakes one waiting thread; may be called with or without the lock.
    package func wakeOne() { unsafe pthread_cond_signal(condition) }

    package func wakeAll() { unsafe pthread_cond_broadcast(condition) }

    /// Waits until `body` returns a value; calls it immediately and after each wake.
    package func blockingWait<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result?
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = try body(&value) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// Waits until `body` returns a value, at most for `limit`; then calls it once more.
    package func blockingWait<Result, Failure: Error>(
        atMost limit: Duration, _ body: (inout Value) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        var deadline = Self.time(after: limit)
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = try body(&value) { return result }
            // The value may have changed just before the timeout.
            if unsafe pthread_cond_timedwait(condition, mutex, &deadline) != 0 { return try body(&value) }
        }
    }

    private static func time(after limit: Duration) -> timespec {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = time.tv_nsec + Int(limit.components.attoseconds / 1_000_000_000)
        time.tv_sec += Int(limit.components.seconds) + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        return time
    }
}
