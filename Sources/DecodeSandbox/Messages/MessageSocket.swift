import CLinux
import Glibc

/// One end of a connection that carries whole messages, and descriptors with them.
@safe
final class MessageSocket: Sendable {
    /// What names it to the kernel.
    let descriptor: CInt

    /// Takes over a descriptor.
    init(adopting descriptor: CInt) { self.descriptor = descriptor }

    deinit {
        close(descriptor)
    }

    /// Two ends of one connection; both are closed in programs that this one starts, unless they are passed on.
    ///
    static func pair() throws(SharedMemoryError) -> (MessageSocket, MessageSocket) {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SharedMemoryError("socketpair") }
        return (MessageSocket(adopting: ends[0]), MessageSocket(adopting: ends[1]))
    }

    /// Sends a message with descriptors; false where the other end is gone, or does not read.
    func send(_ message: [UInt8], _ descriptors: [CInt] = []) -> Bool {
        unsafe CLinux_send(descriptor, message, message.count, descriptors, CInt(descriptors.count)) == 0
    }

    /// Whether the other end was closed, or has said something unasked.
    var isReadable: Bool { wait(milliseconds: 0) }

    /// Waits until there is something to read, or the end; false when the time is up.
    func wait(milliseconds: CInt) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) > 0
    }

    /// A message that is there; empty where there is none, or will be none any more.
    ///
    /// One that is longer than `count` bytes is cut behind the next. Descriptors that came with it are not taken.
    func receive(count: Int) -> [UInt8] {
        var message = [UInt8](repeating: 0, count: count + 1)
        let received = unsafe recv(descriptor, &message, message.count, CInt(MSG_DONTWAIT))
        return Array(message.prefix(max(0, received)))
    }

    /// Writes a message with nothing but write(2), which is all that a confined process may do.
    func write(_ message: [UInt8]) -> Bool {
        unsafe Glibc.write(descriptor, message, message.count) == message.count
    }

    /// Waits for a message and what came with it; nil at the end, or where there is too much of it.
    func nextMessage(count: Int) -> (message: [UInt8], descriptors: [CInt])? {
        var message = [UInt8](repeating: 0, count: count)
        var descriptors = [CInt](repeating: -1, count: Int(CLinux_most_descriptors))
        var descriptorCount: CInt = 0
        let received = unsafe CLinux_receive(descriptor, &message, count, &descriptors, &descriptorCount)
        let taken = Array(descriptors.prefix(Int(descriptorCount)))
        guard received == count else {
            for descriptor in taken { close(descriptor) }
            return nil
        }
        return (message, taken)
    }
}
