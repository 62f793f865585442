import Glibc

/// The identity of a thread, to compare threads.
package struct ThreadIdentity: Equatable, Sendable {
    private let thread: UInt

    /// The calling thread.
    package static var current: ThreadIdentity { ThreadIdentity(thread: UInt(pthread_self())) }
}
