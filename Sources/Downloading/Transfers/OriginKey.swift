/// A scheme, host and port, which fail and recover together.
package struct OriginKey: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    package let scheme: String
    /// Host name or address; IPv6 without brackets.
    package let host: String
    /// Port, the scheme's default included.
    package let port: Int

    /// The three as the start of a URL, the port always written.
    package var description: String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

extension SourceURL {
    /// The origin of the URL.
    package var origin: OriginKey { OriginKey(scheme: scheme, host: host, port: port) }
}
