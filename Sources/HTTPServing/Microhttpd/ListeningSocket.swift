import Glibc

/// Not created by the library, so that accepting can stop while connections continue.
struct ListeningSocket: Sendable {
    static let backlog = 4_096

    /// Owned by the daemon once it has started.
    let descriptor: CInt
    let port: UInt16

    init(address: String, port: UInt16) throws(HTTPServerError) {
        let isIPv6 = address.contains(":")
        var storage = sockaddr_storage()
        guard let length = Self.fill(&storage, address: address, port: port, isIPv6: isIPv6) else {
            throw .invalidAddress(address)
        }
        let descriptor = socket(
            isIPv6 ? AF_INET6 : AF_INET,
            CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw .cannotStart(systemError: errno) }
        Self.set(SOL_SOCKET, SO_REUSEADDR, 1, on: descriptor)
        if isIPv6 { Self.set(CInt(IPPROTO_IPV6), IPV6_V6ONLY, 0, on: descriptor) }
        let isListening = unsafe withUnsafePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, length) == 0 && listen(descriptor, CInt(Self.backlog)) == 0
            }
        }
        guard isListening else {
            let error = errno
            close(descriptor)
            throw .cannotListen(address: address, port: port, systemError: error)
        }
        self.descriptor = descriptor
        self.port = Self.boundPort(of: descriptor)
    }

    /// The kernel rejects later clients.
    ///
    /// The library's own way to stop accepting races with its event threads, which abort the process when they find the
    /// socket gone from their epoll sets. Duplicating another open file onto the descriptor removes the socket from the
    /// sets, and reserves the number until the daemon closes it.
    func stopListening(replacement: CInt) {
        dup2(replacement, descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
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

    private static func set(_ level: CInt, _ option: CInt, _ value: CInt, on descriptor: CInt) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    private static func boundPort(of descriptor: CInt) -> UInt16 {
        // The port has the same offset for both families.
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = unsafe getsockname(descriptor, address, &length)
            }
        }
        return UInt16(bigEndian: address.sin6_port)
    }
}
