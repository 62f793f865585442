import Coordination
package import Downloading
package import HTTPTypes

package struct TrustedProxies: Sendable {
    private let networks: [AddressNetwork]

    package init(_ networks: [AddressNetwork] = []) { self.networks = networks }

    package func contains(_ peer: PeerAddress) -> Bool { contains(IPAddress(peer)) }

    private func contains(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// Each proxy appends its peer's address to `X-Forwarded-For`, and a client may have written anything before that;
    /// so the list is read from its end, while the addresses belong to trusted proxies.
    func sender(of request: HTTPRequest) -> (client: IPAddress?, isProxied: Bool) {
        var client = request.peer.map { IPAddress($0) }
        // Without a peer it came over a Unix socket, whose permissions decide who may connect.
        if let client, networks.isEmpty || !contains(client) { return (client, false) }
        guard let list = request.headerFields[.xForwardedFor] else { return (client, true) }
        for member in list.split(separator: ",", omittingEmptySubsequences: false).reversed() {
            guard let address = IPAddress(forwarded: member) else { break }
            client = address.unmapped
            if !contains(address.unmapped) { break }
        }
        return (client, true)
    }
}

extension IPAddress {
    init(_ peer: PeerAddress) { self = IPAddress.v6(peer.high, peer.low).unmapped }

    /// Parses an address, which some proxies write with a port, and IPv6 in brackets.
    fileprivate init?(forwarded member: Substring) {
        let text = HTTPSyntax.trimmed(member)
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            self.init(String(text[text.index(after: text.startIndex)..<end]))
        } else if text.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1, let colon = text.firstIndex(of: ":") {
            self.init(String(text[..<colon]))
        } else {
            self.init(String(text))
        }
    }
}
