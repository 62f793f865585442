import CLinux
import Glibc

/// The socket of a connection, for everything that goes past the library: looks at it, parting words, and its end.
///
/// Its descriptor must be open during each call.
struct ConnectionSocket: Sendable {
    let descriptor: CInt

    /// Bytes that have arrived since the connection began; -1 if the kernel does not tell.
    var receivedBytes: Int { Int(CLinux_tcp_received_bytes(descriptor)) }

    /// Whether the client has ended its half, and all that it sent has been read.
    var isAtEnd: Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) == 0
    }

    /// Sends bytes as far as the socket takes them at once.
    func send(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
        }
    }

    /// Ends the connection if the client acknowledges nothing, or keeps its window shut, for this time; 0 for never.
    func limitStall(toMilliseconds milliseconds: UInt32) { CLinux_tcp_limit_stall(descriptor, milliseconds) }

    /// Ends both halves of the connection.
    func end() { shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// Ends this side's half of the connection.
    func endSending() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Ends the client's half of the connection.
    func endReceiving() { shutdown(descriptor, CInt(SHUT_RD)) }
}
