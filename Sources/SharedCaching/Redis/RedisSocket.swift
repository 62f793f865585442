import CHiredisShim
import CLibssl
import Glibc

struct ServerAddress: Sendable {
    let family: CInt
    let bytes: [UInt8]

    /// - Parameter isNumeric: Whether `host` must be an address, so that the call does not block.
    static func blockingLookUp(_ host: String, port: UInt16, isNumeric: Bool) -> [ServerAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICSERV | (isNumeric ? AI_NUMERICHOST : 0)
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [ServerAddress] = []
        var next = unsafe list
        while let entry = unsafe next, addresses.count < 16 {
            let bytes = unsafe UnsafeRawBufferPointer(
                start: entry.pointee.ai_addr, count: Int(entry.pointee.ai_addrlen))
            unsafe addresses.append(ServerAddress(family: entry.pointee.ai_family, bytes: Array(bytes)))
            unsafe next = entry.pointee.ai_next
        }
        return addresses
    }
}

/// The TLS settings of all connections; once created, libssl may use them on any thread.
@safe
final class RedisTLS: @unchecked Sendable {
    fileprivate let context: OpaquePointer

    /// Reads a PEM file, or by default the system's authorities; returns nil if the file is invalid.
    init?(authorities: String?) {
        guard let context = unsafe CHiredisShim_tls_create(authorities) else { return nil }
        unsafe self.context = unsafe context
    }

    deinit { unsafe SSL_CTX_free(context) }
}

/// A nonblocking socket, optionally with TLS; used by one thread.
@safe
final class RedisSocket {
    enum Progress: Equatable {
        /// The number of bytes transferred; 0 after a step of the handshake.
        case moved(Int)
        case blocked
        case closed
    }

    let descriptor: CInt
    private(set) var isOpen = false
    private(set) var isWriteBlocked = true
    private var isConnected = false
    private let tls: OpaquePointer?

    /// Returns nil if connecting fails immediately.
    init?(to address: ServerAddress, tls context: RedisTLS?, host: String) {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else { return nil }
        var isOn: CInt = 1
        unsafe setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<CInt>.size))
        let status = unsafe address.bytes.withUnsafeBytes { bytes in
            unsafe bytes.baseAddress.map {
                unsafe connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            } ?? -1
        }
        guard status == 0 || errno == EINPROGRESS else {
            close(descriptor)
            return nil
        }
        if let context {
            guard let tls = unsafe CHiredisShim_tls_open(context.context, descriptor, host) else {
                close(descriptor)
                return nil
            }
            unsafe self.tls = unsafe tls
        } else {
            unsafe tls = nil
        }
        self.descriptor = descriptor
    }

    deinit {
        unsafe SSL_free(tls)
        close(descriptor)
    }

    func advance() -> Progress {
        if !isConnected {
            var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard unsafe poll(&watched, 1, 0) > 0 else { return .blocked }
            var error: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0, error == 0 else {
                return .closed
            }
            isConnected = true
        }
        if let tls = unsafe tls {
            let result = unsafe CHiredisShim_tls_shake(tls)
            guard result == 0 else { return progress(result) }
        }
        isOpen = true
        isWriteBlocked = false
        return .moved(0)
    }

    func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Progress {
        if let tls = unsafe tls { return progress(unsafe CHiredisShim_tls_read(tls, buffer.baseAddress, buffer.count)) }
        while true {
            let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .moved(count) }
            if count == 0 { return .closed }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .blocked : .closed
        }
    }

    /// Whether more bytes may be readable after a read of `count` bytes into a buffer of `capacity`.
    ///
    /// If not, the system will report further bytes; bytes buffered by libssl are not reported.
    func mayHoldMore(after count: Int, of capacity: Int) -> Bool { unsafe tls != nil || count == capacity }

    func send(_ bytes: UnsafeRawBufferPointer) -> Progress {
        isWriteBlocked = false
        if let tls = unsafe tls { return progress(unsafe CHiredisShim_tls_write(tls, bytes.baseAddress, bytes.count)) }
        while true {
            let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
            if count >= 0 { return .moved(count) }
            if errno == EINTR { continue }
            guard errno == EAGAIN || errno == EWOULDBLOCK else { return .closed }
            isWriteBlocked = true
            return .blocked
        }
    }

    private func progress(_ result: some BinaryInteger) -> Progress {
        let result = Int(result)
        if result >= 0 { return .moved(result) }
        isWriteBlocked = result == Int(CHiredisShim_wants_write)
        return result == Int(CHiredisShim_closed) ? .closed : .blocked
    }
}
