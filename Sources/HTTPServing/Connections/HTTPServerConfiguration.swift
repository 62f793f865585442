import Glibc
package import HTTPTypes

/// The address and the limits of an ``HTTPServer``.
package struct HTTPServerConfiguration: Sendable {
    /// The address to listen on, IPv4 or IPv6 in figures; `::` takes both.
    package var bindAddress = "0.0.0.0"
    /// The port to listen on; 0 picks a free one.
    package var port: UInt16 = 8080
    /// Event threads; as many as cores answer the most requests.
    package var threads = 1
    /// Most open connections; beyond them an idle one is closed for each new one, or the new one if none is idle.
    package var maximumConnections = 4096
    /// Most open connections from one address; nil for no such limit.
    package var maximumConnectionsPerAddress: Int?
    /// Whether an address is that of a proxy that stands for many clients, so that it may have any number of
    /// connections.
    package var isTrustedProxy: @Sendable (PeerAddress) -> Bool = { _ in false }
    /// How long a connection may stay open without a request; whole seconds count.
    package var keepAliveTimeout = Duration.seconds(60)
    /// Time from the first byte of a request header to its end.
    package var headerTimeout = Duration.seconds(5)
    /// Time from the end of a request header to the end of its body; one that comes more slowly than ``BodyPace``
    /// allows ends earlier.
    package var bodyTimeout = Duration.seconds(15)
    /// How long a client may leave an answer unread.
    package var stalledReaderTimeout = Duration.seconds(10)
    /// Longest request target in bytes.
    package var maximumTargetLength = 8192
    /// Most bytes of all header field lines together.
    package var maximumFieldsLength = 16384
    /// Most header field lines.
    package var maximumFieldCount = 64

    package init() {}

    /// Most descriptors of connections, including those that are being closed to make room.
    package var maximumDescriptors: Int { maximumConnections + ConnectionEviction.mostClosings }
}

/// Why a server could not start.
package enum HTTPServerError: Error, Hashable, Sendable {
    /// The bind address is not an IPv4 or IPv6 address in figures.
    case invalidAddress(String)
    /// The address or port cannot be bound; the number is the system's error.
    case cannotListen(address: String, port: UInt16, systemError: Int32)
    /// Threads or descriptors are not available; the number is the system's error.
    case cannotStart(systemError: Int32)
}

extension HTTPServerError: CustomStringConvertible {
    /// The fault in the configuration, without a full stop.
    package var description: String {
        switch self {
        case .invalidAddress(let text):
            "\"\(text)\" is no address to listen on; allowed are IPv4 and IPv6 addresses in figures"
        case .cannotListen(let address, let port, EADDRINUSE):
            "port \(port) of \(address) is in use by another program"
        case .cannotListen(let address, _, EADDRNOTAVAIL): "\(address) is no address of this machine"
        case .cannotListen(let address, let port, EACCES):
            "port \(port) of \(address) may not be used without privileges; ports from 1024 may"
        case .cannotListen(let address, let port, let error):
            "cannot listen on port \(port) of \(address): \(Self.text(of: error))"
        case .cannotStart(let error): "no thread or descriptor for a listener: \(Self.text(of: error))"
        }
    }

    private static func text(of error: Int32) -> String {
        unsafe strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
    }
}
