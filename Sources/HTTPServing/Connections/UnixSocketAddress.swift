import Glibc

package struct UnixSocketAddress: Sendable {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// - Parameter path: At most 107 bytes; `@` at the start stands for Linux's abstract namespace.
    package init?(_ path: String) {
        var bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
            return nil
        }
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let terminator = isAbstract ? 0 : 1
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + terminator)
    }

    func bind(_ descriptor: CInt) -> Bool { unsafe withPointer { unsafe Glibc.bind(descriptor, $0, $1) == 0 } }

    /// Whether the socket exists but no process listens on it.
    func isStale() -> Bool {
        let probe = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard probe >= 0 else { return false }
        defer { close(probe) }
        let isRejected = unsafe withPointer { unsafe connect(probe, $0, $1) != 0 } && errno == ECONNREFUSED
        // Files that are not sockets refuse connections, too.
        errno = EADDRINUSE
        return isRejected && isSocket
    }

    private var isSocket: Bool {
        var status = stat()
        var address = address
        let result = unsafe withUnsafePointer(to: &address.sun_path) { path in
            unsafe path.withMemoryRebound(to: CChar.self, capacity: 108) { unsafe lstat($0, &status) }
        }
        return result == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Sends one datagram without waiting.
    package func send(_ text: String) {
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        unsafe withPointer { address, length in
            _ = unsafe sendto(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT), address, length)
        }
    }

    private func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}
