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
