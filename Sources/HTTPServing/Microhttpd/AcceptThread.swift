import Coordination
import Glibc

/// Accepts from a socket that is shared with another process, such as systemd.
///
/// The library cannot release such a socket: it stays in the epoll sets of the event threads until all processes have
/// closed it.
final class AcceptThread: Sendable {
    private let socket: ListeningSocket
    private let ends: (reader: CInt, writer: CInt)
    private let thread = Locked<WorkThread?>(nil)

    init(on socket: ListeningSocket, to daemon: MicrohttpdDaemon) throws(HTTPServerError) {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .cannotStart(systemError: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.socket = socket
        self.ends = (ends[0], ends[1])
        do {
            let thread = try WorkThread(named: "http-accept") { [reader = ends[0]] in
                while !Self.isReadable(reader, or: socket.descriptor) {
                    guard daemon.acceptWaiting(on: socket, atMost: 64) == 0 else { continue }
                    // Another process was faster, or there are currently no descriptors.
                    _ = Self.isReadable(reader, milliseconds: 10)
                }
            }
            self.thread.withLock { $0 = thread }
        } catch {
            throw .cannotStart(systemError: error.systemError)
        }
    }

    deinit {
        close(ends.reader)
        close(ends.writer)
    }

    /// Stops accepting; after it returns, new clients wait for the next process.
    func stop() {
        var byte: UInt8 = 1
        _ = unsafe write(ends.writer, &byte, 1)
        thread.withLock { $0.take() }?.blockingJoin()
        close(socket.descriptor)
    }

    /// Waits until one of the descriptors is readable; returns whether `reader` is.
    private static func isReadable(_ reader: CInt, or socket: CInt = -1, milliseconds: CInt = -1) -> Bool {
        var entries = [reader, socket].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        unsafe poll(&entries, nfds_t(entries.count), milliseconds)
        return entries[0].revents != 0
    }
}
