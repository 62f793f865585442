import Glibc
package import HTTPTypes

/// The only place that protects private networks from clients' URLs.
package struct AddressPolicy: Sendable {
    private static let globalUnicast = ["2000::/3"].compactMap(AddressNetwork.init)
    private static let deniedV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]
        .compactMap(AddressNetwork.init)
    private static let deniedV4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
    ].compactMap(AddressNetwork.init)

    /// Networks that are allowed on any port, even if not public; may include the host's own addresses.
    package var allowedNetworks: [AddressNetwork] = []
    /// Networks that are denied even if another rule allows them.
    package var deniedNetworks: [AddressNetwork] = []
    package var allowedEndpoints: [AllowedEndpoint] = []
    package var allowedPorts: Set<Int> = [80, 443]

    package func allows(_ address: IPAddress, port: Int, localAddresses: Set<IPAddress>) -> Bool {
        let address = address.unmapped
        if deniedNetworks.contains(where: { $0.contains(address) }) { return false }
        if allowedNetworks.contains(where: { $0.contains(address) }) { return true }
        if allowedEndpoints.contains(where: { $0.address.unmapped == address && $0.port == port }) { return true }
        return allowedPorts.contains(port) && Self.isPublic(address) && !localAddresses.contains(address)
    }

    func violation(to address: IPAddress, port: Int, localAddresses: Set<IPAddress>) -> String? {
        guard !allows(address, port: port, localAddresses: localAddresses) else { return nil }
        if localAddresses.contains(address.unmapped) {
            return "allowedNetworks: \(address) is an address of this machine, and none of the networks contains it"
        }
        guard Self.isPublic(address) else {
            return "allowedNetworks: \(address) is not public, and none of the networks contains it"
        }
        return violation(toPort: port)
    }

    func violation(toPort port: Int) -> String {
        "allowedPorts: \(port) is none of \(allowedPorts.sorted().map(String.init).joined(separator: ", "))"
    }

    package func mayAllow(port: Int) -> Bool {
        allowedPorts.contains(port) || !allowedNetworks.isEmpty || allowedEndpoints.contains { $0.port == port }
    }

    /// Whether the address is not in IANA's registries of special-purpose addresses.
    package static func isPublic(_ address: IPAddress) -> Bool {
        switch address.unmapped {
        case .v4:
            return !deniedV4.contains { $0.contains(address.unmapped) }
        case .v6(_, let low):
            // ISATAP embeds an IPv4 address after these two interface identifiers (RFC 5214 section 6.1).
            let interface = low >> 32
            return globalUnicast.contains { $0.contains(address) } && interface != 0x0000_5efe
                && interface != 0x0200_5efe && !deniedV6.contains { $0.contains(address) }
        }
    }
}

package struct AllowedEndpoint: Hashable, Sendable {
    package let address: IPAddress
    package let port: Int

    package init(address: IPAddress, port: Int) {
        self.address = address
        self.port = port
    }
}
