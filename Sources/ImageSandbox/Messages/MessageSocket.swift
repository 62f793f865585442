import CLinux
import Glibc

@safe
final class MessageSocket: Sendable {
    let descriptor: CInt

    init(adopting descriptor: CInt) { self.descriptor = descriptor }

    deinit {
        close(descriptor)
    }

    /// Creates two connected sockets; programs started by this process inherit neither by default.
    static func pair() throws(SharedMemoryError) -> (MessageSocket, MessageSocket) {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SharedMemoryError("socketpair") }
        return (MessageSocket(adopting: ends[0]), MessageSocket(adopting: ends[1]))
    }

    /// Sends a message without blocking; returns false if the other end is closed or its buffer is full.
    func send(_ message: [UInt8], descriptors: [CInt] = []) -> Bool {
        unsafe CLinux_send(descriptor, message, message.count, descriptors, CInt(descriptors.count)) == 0
    }

    var isReadable: Bool { wait(milliseconds: 0) }

    func wait(milliseconds: CInt) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) > 0
    }

    /// Receives a message without blocking; returns an empty one if there is none or the connection has ended.
    ///
    /// A longer message is truncated after `count` + 1 bytes, and its descriptors are dropped.
    func receive(count: Int) -> [UInt8] {
        var message = [UInt8](repeating: 0, count: count + 1)
        let received = unsafe recv(descriptor, &message, message.count, CInt(MSG_DONTWAIT))
        return Array(message.prefix(max(0, received)))
    }

    /// Sends with `write`, the only such call allowed in a confined process.
    func write(_ message: [UInt8]) -> Bool {
        unsafe Glibc.write(descriptor, message, message.count) == message.count
    }

    /// Waits for a message; returns nil at the end of the connection, or if its length is not `count`.
    func nextMessage(count: Int) -> (message: [UInt8], descriptors: [CInt])? {
        var message = [UInt8](repeating: 0, count: count)
        var descriptors = [CInt](repeating: -1, count: Int(CLinux_max_descriptors))
        var descriptorCount: CInt = 0
        let received = unsafe CLinux_receive(descriptor, &message, count, &descriptors, &descriptorCount)
        let receivedDescriptors = Array(descriptors.prefix(Int(descriptorCount)))
        guard received == count else {
            for descriptor in receivedDescriptors { close(descriptor) }
            return nil
        }
        return (message, receivedDescriptors)
    }
}
