/// A scheme, host and port, which fail and recover together.
package struct OriginKey: Hashable, Sendable, CustomStringConvertible {
    package let scheme: String
    package let host: String
    package let port: Int

    init(folder name: String) {
        (scheme, host, port) = (SourceURL.folderScheme, name, 0)
    }

    init(scheme: String, host: String, port: Int) {
        (self.scheme, self.host, self.port) = (scheme, host, port)
    }

    package var description: String {
        if scheme == SourceURL.folderScheme { return "\(host):" }
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

extension SourceURL {
    package var origin: OriginKey { OriginKey(scheme: scheme, host: host, port: port) }
}
