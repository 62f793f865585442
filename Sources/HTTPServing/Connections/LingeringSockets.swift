import Coordination
import Glibc

/// Keeps sockets open briefly after their connections, so that rejected clients can read the response.
///
/// A client that is still sending when its socket is closed gets a reset and may lose the response (RFC 9112 section
/// 9.6). Therefore only the sending side is shut down, and received bytes are discarded until the client closes. Event
/// threads add sockets, and the watch thread drains them.
final class LingeringSockets: Sendable {
    private struct Socket {
        let descriptor: CInt
        let deadline: Duration
        var bytesLeft = 1 << 20
    }

    private static let maximumCount = 32
    private static let timeLimit = Duration.seconds(2)

    private let sockets = Locked<[Socket]>([])

    /// Adds a copy of a descriptor that is about to be closed; returns false if there are too many.
    func add(copyOf descriptor: CInt, at now: Duration) -> Bool {
        sockets.withLock { sockets in
            guard sockets.count < Self.maximumCount else { return false }
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { return false }
            shutdown(copy, CInt(SHUT_WR))
            sockets.append(Socket(descriptor: copy, deadline: now + Self.timeLimit))
            return true
        }
    }

    /// Closes finished and overdue sockets; returns true if any remain.
    func drain(at now: Duration) -> Bool {
        sockets.withLock { sockets in
            sockets = sockets.compactMap { socket in
                var socket = socket
                if now < socket.deadline, Self.discard(&socket) { return socket }
                close(socket.descriptor)
                return nil
            }
            return !sockets.isEmpty
        }
    }

    func closeAll() {
        sockets.withLock { sockets in
            for socket in sockets { close(socket.descriptor) }
            sockets = []
        }
    }

    private static func discard(_ socket: inout Socket) -> Bool {
        unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer in
            while socket.bytesLeft > 0 {
                let count = unsafe recv(socket.descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
                if count < 0 { return errno == EAGAIN || errno == EINTR }
                if count == 0 { return false }
                socket.bytesLeft -= count
            }
            return false
        }
    }
}
