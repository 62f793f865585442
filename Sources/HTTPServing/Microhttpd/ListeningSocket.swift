import Glibc

/// The listening socket, which the library does not own, so that accepting can stop while connections continue.
struct ListeningSocket: Sendable {
    static let backlog = 4_096

    /// The descriptor; the daemon owns it after it has started.
    let descriptor: CInt
    /// The port; zero for a Unix socket.
    let port: UInt16
    /// Whether another process has the socket, too.
    let isInherited: Bool
    private let file: SocketFile?

    init(_ configuration: HTTPServerConfiguration) throws(HTTPServerError) {
        isInherited = configuration.inheritedSocket != nil
        if let inherited = configuration.inheritedSocket {
            descriptor = inherited
            file = nil
            _ = fcntl(inherited, F_SETFD, FD_CLOEXEC)
            _ = fcntl(inherited, F_SETFL, fcntl(inherited, F_GETFL) | O_NONBLOCK)
        } else if let path = configuration.socketPath {
            (descriptor, file) = try Self.listen(at: path, mode: configuration.socketMode)
        } else {
            descriptor = try Self.listen(on: configuration.bindAddress, port: configuration.port)
            file = nil
        }
        port = Self.boundPort(of: descriptor)
    }

    /// Makes the kernel reject new clients; do not call for inherited sockets.
    ///
    /// The library's own way to stop accepting races with its event threads, which abort the process when they find the
    /// socket gone from their epoll sets. Duplicating another open file onto the descriptor removes the socket from the
    /// sets, and reserves the number until the daemon closes it.
    func stopListening(replacement: CInt) {
        file?.remove()
        dup2(replacement, descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private static func listen(on address: String, port: UInt16) throws(HTTPServerError) -> CInt {
        let isIPv6 = address.contains(":")
        var storage = sockaddr_storage()
        guard let length = fill(&storage, address: address, port: port, isIPv6: isIPv6) else {
            throw .invalidAddress(address)
        }
        let descriptor = try newSocket(isIPv6 ? AF_INET6 : AF_INET)
        set(level: SOL_SOCKET, option: SO_REUSEADDR, value: 1, on: descriptor)
        if isIPv6 { set(level: CInt(IPPROTO_IPV6), option: IPV6_V6ONLY, value: 0, on: descriptor) }
        let isListening = unsafe withUnsafePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, length) == 0 && Glibc.listen(descriptor, CInt(backlog)) == 0
            }
        }
        guard isListening else {
            let error = errno
            close(descriptor)
            throw .cannotListen(address: address, port: port, systemError: error)
        }
        return descriptor
    }

    /// Listens at a path, replacing the socket file of an earlier process.
    private static func listen(
        at path: String, mode: mode_t
    ) throws(HTTPServerError) -> (descriptor: CInt, SocketFile) {
        guard let address = UnixSocketAddress(path) else { throw .invalidAddress("unix:" + path) }
        let descriptor = try newSocket(AF_UNIX)
        // The umask has removed permissions from the file.
        _ = fchmod(descriptor, mode)
        var isBound = address.bind(descriptor)
        if !isBound, errno == EADDRINUSE, address.isStale() {
            unsafe unlink(path)
            isBound = address.bind(descriptor)
        }
        guard isBound, unsafe chmod(path, mode) == 0, Glibc.listen(descriptor, CInt(backlog)) == 0 else {
            let error = errno
            close(descriptor)
            throw .cannotListenAtPath(path, systemError: error)
        }
        return (descriptor, SocketFile(path))
    }

    private static func newSocket(_ family: CInt) throws(HTTPServerError) -> CInt {
        let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(family, CInt(flags), 0)
        guard descriptor >= 0 else { throw .cannotStart(systemError: errno) }
        return descriptor
    }

    private static func fill(
        _ storage: inout sockaddr_storage, address: String, port: UInt16, isIPv6: Bool
    ) -> socklen_t? {
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            guard let base = bytes.baseAddress else { return nil }
            if isIPv6 {
                var internet = sockaddr_in6()
                internet.sin6_family = sa_family_t(AF_INET6)
                internet.sin6_port = port.bigEndian
                guard unsafe inet_pton(AF_INET6, address, &internet.sin6_addr) == 1 else { return nil }
                unsafe base.storeBytes(of: internet, as: sockaddr_in6.self)
                return socklen_t(MemoryLayout<sockaddr_in6>.size)
            }
            var internet = sockaddr_in()
            internet.sin_family = sa_family_t(AF_INET)
            internet.sin_port = port.bigEndian
            guard unsafe inet_pton(AF_INET, address, &internet.sin_addr) == 1 else { return nil }
            unsafe base.storeBytes(of: internet, as: sockaddr_in.self)
            return socklen_t(MemoryLayout<sockaddr_in>.size)
        }
    }

    private static func set(level: CInt, option: CInt, value: CInt, on descriptor: CInt) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    private static func boundPort(of descriptor: CInt) -> UInt16 {
        // The port has the same offset in IPv4 and IPv6 addresses.
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = unsafe getsockname(descriptor, address, &length)
            }
        }
        return address.sin6_family == sa_family_t(AF_UNIX) ? 0 : UInt16(bigEndian: address.sin6_port)
    }
}

/// A socket's file, removed only if it still belongs to this process: another one may have replaced it.
private struct SocketFile: Sendable {
    private let path: String
    private let identity: [UInt64]

    init(_ path: String) {
        self.path = path
        identity = Self.identity(of: path)
    }

    func remove() { if Self.identity(of: path) == identity { unsafe unlink(path) } }

    private static func identity(of path: String) -> [UInt64] {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : []
    }
}
