import Coordination
package import HTTPTypes

package struct TrustedProxies: Sendable {
    private let networks: [AddressNetwork]

    package init(_ networks: [AddressNetwork] = []) { self.networks = networks }

    package func contains(_ peer: PeerAddress) -> Bool { contains(IPAddress(peer)) }

    private func contains(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// Returns the client, read from the end of `X-Forwarded-For` while the addresses belong to trusted proxies.
    ///
    /// Each proxy appends its peer's address; a client may have written anything before that.
    func sender(of request: HTTPRequest) -> (client: IPAddress?, isProxied: Bool) {
        var client = request.peer.map { IPAddress($0) }
        // A connection over a Unix socket has no peer address and is trusted: the socket's permissions control access.
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
    /// Parses an address, with a port or brackets as some proxies write it.
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
