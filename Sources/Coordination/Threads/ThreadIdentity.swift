import Glibc

package struct ThreadIdentity: Equatable, Sendable {
    private let thread: UInt

    package static var current: ThreadIdentity { ThreadIdentity(thread: UInt(pthread_self())) }
}
