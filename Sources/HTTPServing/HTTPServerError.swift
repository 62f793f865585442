/// Why a server could not start.
package enum HTTPServerError: Error, Hashable, Sendable {
    /// The bind address is not an IPv4 or IPv6 address in figures.
    case invalidAddress(String)
    /// The address or port cannot be bound; the number is the system's error.
    case cannotListen(address: String, port: UInt16, systemError: Int32)
    /// Threads or descriptors are not available; the number is the system's error.
    case cannotStart(systemError: Int32)
}
