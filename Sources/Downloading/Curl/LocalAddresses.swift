import Glibc
import HTTPTypes

/// The addresses of this host's interfaces, at most ten seconds old; used only by the `transfers` thread.
struct LocalAddresses {
    private static let lifetime = Duration.seconds(10)
    private var addresses: Set<IPAddress> = []
    private var expiry: Duration?

    mutating func current(at now: Duration) -> Set<IPAddress> {
        if let expiry, now < expiry { return addresses }
        addresses = Self.read()
        expiry = now + Self.lifetime
        return addresses
    }

    private static func read() -> Set<IPAddress> {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return [] }
        defer { unsafe freeifaddrs(list) }
        var addresses: Set<IPAddress> = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe IPAddress(UnsafePointer(entry.pointee.ifa_addr)) {
                addresses.insert(address.unmapped)
            }
            unsafe next = entry.pointee.ifa_next
        }
        return addresses
    }
}

extension IPAddress {
    @unsafe
    init?(_ address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else { return nil }
        // Read by offset: several C modules declare these structures, so Swift finds their members ambiguous.
        let raw = unsafe UnsafeRawPointer(address)
        switch Int32(unsafe raw.load(as: sa_family_t.self)) {
        case AF_INET:
            self = .v4(UInt32(bigEndian: unsafe raw.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        case AF_INET6:
            self.init(networkOrder: unsafe raw.loadUnaligned(fromByteOffset: 8, as: in6_addr.self))
        default:
            return nil
        }
    }
}
