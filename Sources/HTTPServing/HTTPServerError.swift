/// Why a server could not start.
package enum HTTPServerError: Error, Hashable, Sendable {
    /// The bind address is no IPv4 or IPv6 address in figures.
    case invalidAddress(String)
    /// The address or port cannot be had; the number is the system's error.
    case cannotListen(address: String, port: UInt16, systemError: Int32)
    /// Threads or descriptors are wanting; the number is the system's error.
    case cannotStart(systemError: Int32)
}
