#if TSAN
public import CLinux
public import Glibc
#else
public import Synchronization
#endif

/// A value with a lock: `Synchronization.Mutex`, or with `-DTSAN` a pthread mutex.
///
/// ThreadSanitizer does not support `Mutex` on Linux. Resume no continuation and call no foreign code while holding
/// the lock. Inlinable, because unspecialized generic code looks up its types' metadata on every call, which was a
/// sixth of the instructions of a cached response.
@safe
public final class Locked<Value>: @unchecked Sendable {
    #if TSAN
    @usableFromInline var value: Value
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    @inlinable public init(_ value: Value) {
        self.value = value
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
    #else
    @usableFromInline let mutex: Mutex<UncheckedBox<Value>>

    @inlinable public init(_ value: Value) { mutex = Mutex(UncheckedBox(value: value)) }

    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mutex.withLock { box throws(Failure) in UncheckedBox(value: try body(&box.value)) }.value
    }
    #endif
}

extension Locked {
    /// Returns the old value, so that it is released outside the lock.
    @inlinable public func exchange(_ new: Value) -> Value {
        withLock { value in
            defer { value = new }
            return value
        }
    }
}

#if !TSAN
/// Passes values through the mutex's region checks; `Locked` itself guarantees that they are accessed only under the
/// lock.
@usableFromInline
struct UncheckedBox<Value>: @unchecked Sendable {
    @usableFromInline var value: Value

    @inlinable init(value: Value) { self.value = value }
}
#endif
