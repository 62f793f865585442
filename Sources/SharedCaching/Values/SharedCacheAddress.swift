import Text

/// A server: `redis://HOST:PORT/DATABASE`, or `rediss://…` for TLS.
package struct SharedCacheAddress: Hashable, Sendable {
    /// A host name, or an address without brackets.
    package let host: String
    package let port: UInt16
    package let database: Int
    /// Whether to use TLS and verify the server's certificate.
    package let isTLS: Bool

    private static let maximumHostBytes = 253
    private static let highestDatabase = 65_535

    /// Returns nil if the text is invalid, or contains a user or password.
    package init?(_ text: String) {
        let schemes = [("redis://", false), ("rediss://", true)]
        guard let (scheme, isTLS) = schemes.first(where: { text.hasPrefix($0.0) }) else { return nil }
        let rest = text.dropFirst(scheme.count)
        let segments = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let (host, portText) = Self.hostAndPort(segments[0]),
            let port = Self.number(portText ?? "6379", to: 65_535),
            let database = Self.number(
                segments.count == 2 && !segments[1].isEmpty ? segments[1] : "0", to: Self.highestDatabase),
            port > 0
        else { return nil }
        self.host = host
        self.port = UInt16(port)
        self.database = database
        self.isTLS = isTLS
    }

    private static func hostAndPort(_ text: Substring) -> (host: String, port: Substring?)? {
        let isAllowed: (UInt8) -> Bool = { byte in
            byte.isASCIIAlphanumeric || ".-_".utf8.contains(byte)
        }
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let host = text[text.index(after: text.startIndex)..<end]
            let after = text[text.index(after: end)...]
            guard !host.isEmpty, host.utf8.count <= maximumHostBytes,
                host.utf8.allSatisfy({ isAllowed($0) || $0 == UInt8(ascii: ":") }),
                after.isEmpty || after.hasPrefix(":")
            else { return nil }
            return (String(host), after.isEmpty ? nil : after.dropFirst())
        }
        let components = text.split(separator: ":", omittingEmptySubsequences: false)
        guard components.count <= 2, !components[0].isEmpty, components[0].utf8.count <= maximumHostBytes,
            components[0].utf8.allSatisfy(isAllowed)
        else { return nil }
        return (String(components[0]), components.count == 2 ? components[1] : nil)
    }

    private static func number(_ text: some StringProtocol, to maximum: Int) -> Int? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit),
            let number = Int(text), number <= maximum
        else { return nil }
        return number
    }
}
