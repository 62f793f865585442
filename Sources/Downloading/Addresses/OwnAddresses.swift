import Glibc

/// The addresses of this host's interfaces, read again when they may have changed.
///
/// Used only by the thread `transfers`.
struct OwnAddresses {
    private static let lifetime = Duration.seconds(10)
    private var addresses: Set<IPAddress> = []
    private var expiry: Duration?

    /// The addresses as they were at most ten seconds before `now`.
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
