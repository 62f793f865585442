/// The server of the shared cache and its use.
package struct SharedCacheConfiguration: Sendable {
    package var address: SharedCacheAddress
    package var credentials = SharedCacheCredentials()
    /// A PEM file of certificate authorities; nil for the system's.
    package var authorities: String?
    package var store = SharedStoreConfiguration()
    /// The number of connections for reads; there are three others, for writes, control and messages.
    package var readConnections = 4

    package init(address: SharedCacheAddress) {
        self.address = address
        store.timeout = .milliseconds(50)
    }
}

/// The credentials for the server, and the key shared with other instances; never shown.
package struct SharedCacheCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    /// The user; nil for the default one.
    package var user: String?
    /// The password; nil if the server requires none.
    package var password: String?
    /// The key that seals values and purges, the same for all instances; nil if a plain hash is enough.
    package var key: [UInt8]?

    package init() {}

    /// An ellipsis, so that no log shows the credentials.
    package var description: String { "…" }
    /// Empty, so that reflection does not show the credentials.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
