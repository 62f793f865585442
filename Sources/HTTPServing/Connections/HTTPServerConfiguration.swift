package import Glibc
package import HTTPTypes

package struct HTTPServerConfiguration: Sendable {
    /// A numeric address, or `unix:` and a path.
    package var bindAddress = "0.0.0.0"
    package var port: UInt16 = 8080
    /// The permissions of a Unix socket.
    package var socketMode: mode_t = 0o660
    /// A descriptor that is already listening; takes precedence over the address.
    package var inheritedSocket: CInt?
    /// The number of event threads; one per core gives the highest throughput.
    package var threads = 1
    /// At this limit, each new connection replaces an idle one; if none is idle, it is closed.
    package var maximumConnections = 4096
    package var maximumConnectionsPerAddress: Int?
    /// Whether a peer is a proxy, which may have any number of connections, like peers on a Unix socket.
    package var isTrustedProxy: @Sendable (PeerAddress) -> Bool = { _ in false }
    /// The time that a connection may be idle; rounded up to whole seconds.
    package var keepAliveTimeout = Duration.seconds(60)
    /// The time from the first byte to the end of the header.
    package var headerTimeout = Duration.seconds(5)
    /// The time for a body, from the end of the header; a body slower than ``BodyPace`` allows ends earlier.
    package var bodyTimeout = Duration.seconds(15)
    package var stalledReaderTimeout = Duration.seconds(10)
    package var maximumTargetLength = 8192
    package var maximumFieldsLength = 16384
    package var maximumFieldCount = 64

    package init() {}

    package static let socketPrefix = "unix:"

    /// The path of the Unix socket; nil for an IP address.
    package var socketPath: String? {
        bindAddress.hasPrefix(Self.socketPrefix) ? String(bindAddress.dropFirst(Self.socketPrefix.count)) : nil
    }

    /// The maximum descriptors of clients, including connections being closed to make room.
    package var maximumDescriptors: Int { maximumConnections + ConnectionEviction.maximumClosings }
}

package enum HTTPServerError: Error, Hashable, Sendable {
    case invalidAddress(String)
    /// `systemError` is an `errno` value.
    case cannotListen(address: String, port: UInt16, systemError: Int32)
    /// `systemError` is an `errno` value.
    case cannotListenAtPath(String, systemError: Int32)
    /// The system has too few threads or descriptors; `systemError` is an `errno` value.
    case cannotStart(systemError: Int32)
}

extension HTTPServerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalidAddress(let text):
            "\"\(text)\" is no address to listen on; allowed are IPv4 and IPv6 addresses in figures, and unix:/path"
        case .cannotListen(let address, let port, EADDRINUSE):
            "port \(port) of \(address) is in use by another program"
        case .cannotListen(let address, _, EADDRNOTAVAIL): "\(address) is no address of this machine"
        case .cannotListen(let address, let port, EACCES):
            "port \(port) of \(address) may not be used without privileges; ports from 1024 may"
        case .cannotListen(let address, let port, let error):
            "cannot listen on port \(port) of \(address): \(Self.text(of: error))"
        case .cannotListenAtPath(let path, EADDRINUSE):
            "\(path) is the socket of a running program, or no socket"
        case .cannotListenAtPath(let path, let error): "cannot listen on \(path): \(Self.text(of: error))"
        case .cannotStart(let error): "no thread or descriptor for a listener: \(Self.text(of: error))"
        }
    }

    private static func text(of error: Int32) -> String {
        unsafe strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
    }
}
