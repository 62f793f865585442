#if TSAN
public import CLinux
public import Glibc
#else
public import Synchronization
#endif

/// A value that is only reached under its lock.
///
/// Built on `Synchronization.Mutex`; with `-DTSAN` on a pthread mutex, because ThreadSanitizer cannot see the former
/// on Linux. Resume no continuation and call no foreign code while holding it. Inlinable, because the unspecialised
/// generic code looks its types' metadata up on every call: that was a sixth of a cached answer's instructions.
@safe
public final class Locked<Value>: @unchecked Sendable {
    #if TSAN
    @usableFromInline var value: Value
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    /// A lock that guards `value`.
    @inlinable public init(_ value: Value) {
        self.value = value
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the value, alone.
    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
    #else
    @usableFromInline let mutex: Mutex<UncheckedBox<Value>>

    /// A lock that guards `value`.
    @inlinable public init(_ value: Value) {
        mutex = Mutex(UncheckedBox(value: value))
    }

    /// Runs `body` with the value, alone.
    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mutex.withLock { box throws(Failure) in UncheckedBox(value: try body(&box.value)) }.value
    }
    #endif
}

#if !TSAN
/// Lets values cross the mutex's region checks: `Locked` itself promises that they are reached under the lock only.
@usableFromInline
struct UncheckedBox<Value>: @unchecked Sendable {
    @usableFromInline var value: Value

    @inlinable init(value: Value) { self.value = value }
}
#endif
