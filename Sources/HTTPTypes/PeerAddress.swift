/// In IPv6 form (RFC 4291 section 2.5.5.2), as halves in host byte order.
package struct PeerAddress: Hashable, Sendable {
    package let high: UInt64
    /// The interface half; for IPv4, `ffff` and the address.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// One client: an IPv4 address, or an IPv6 /64, the usual allocation to a household.
package struct ClientNetwork: Hashable, Sendable {
    /// The IPv4 address, or the first half of the IPv6 address; nil for all clients without a known address.
    private let bits: UInt64?

    package init(bits: UInt64?) { self.bits = bits }

    /// All clients without a known address share one network.
    package init(of client: IPAddress?) {
        switch client?.unmapped {
        case .v4(let address): self.init(bits: UInt64(address))
        case .v6(let network, _): self.init(bits: network)
        case nil: self.init(bits: nil)
        }
    }

    package init(of peer: PeerAddress) {
        bits = peer.high == 0 && peer.low >> 32 == 0xffff ? peer.low & 0xffff_ffff : peer.high
    }
}
