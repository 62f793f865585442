/// The network that counts as one client: an IPv4 address, or an IPv6 network of 64 bits, because these are given to
/// single households.
package struct ClientNetwork: Hashable, Sendable {
    private let address: IPAddress?

    /// The network of an address; the clients whose address is not known are one.
    package init(of client: IPAddress?) {
        if case .v6(let network, _) = client?.unmapped { address = .v6(network, 0) } else { address = client?.unmapped }
    }
}
