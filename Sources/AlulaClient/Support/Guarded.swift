import Foundation

/// A value behind a lock.
///
/// `Mutex` needs macOS 15, and this library also runs on macOS 13.
package final class Guarded<Value>: @unchecked Sendable {
    private var value: Value
    private let lock = NSLock()

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
