/// The network that counts as one client: an IPv4 address, or an IPv6 /64, the usual allocation to a household.
package struct ClientNetwork: Hashable, Sendable {
    private let address: IPAddress?

    /// Returns the network of an address; all clients without a known address share one.
    package init(of client: IPAddress?) {
        if case .v6(let network, _) = client?.unmapped { address = .v6(network, 0) } else { address = client?.unmapped }
    }
}
