import CLinux
import Glibc

/// Accesses a connection's socket directly, bypassing the library; the descriptor must be open during each call.
struct ConnectionSocket: Sendable {
    let descriptor: CInt

    /// The bytes received since the connection began; -1 if the kernel does not report them.
    var receivedBytes: Int { Int(CLinux_tcp_received_bytes(descriptor)) }

    /// Whether the client has closed its half and everything it sent has been read.
    var isAtEnd: Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) == 0
    }

    /// Sends as many bytes as the socket accepts without blocking.
    func send(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
        }
    }

    /// Ends the connection if the client acknowledges nothing or has a closed window for this time; 0 disables it.
    func limitStall(toMilliseconds milliseconds: UInt32) { CLinux_tcp_limit_stall(descriptor, milliseconds) }

    func end() { shutdown(descriptor, CInt(SHUT_RDWR)) }

    func endSending() { shutdown(descriptor, CInt(SHUT_WR)) }

    func endReceiving() { shutdown(descriptor, CInt(SHUT_RD)) }
}
