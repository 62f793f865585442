/// Which server the shared cache is, and how it is used; sizes in bytes.
package struct SharedCacheConfiguration: Sendable {
    /// The address of the server.
    package var address: SharedCacheAddress
    /// The user and the password for the server.
    package var credentials = SharedCacheCredentials()
    /// A file of certificate authorities in PEM; nil for the system's.
    package var authorities: String?
    /// How long one request may wait for the server, in all.
    package var timeout = Duration.milliseconds(50)
    /// Whether only reads and purges are sent.
    package var isReadOnly = false
    /// Writes that the server has not confirmed yet.
    package var maximumQueueBytes = 16 << 20
    /// The largest value, in bytes.
    package var maximumValueBytes = 8 << 20
    /// Connections for reads; there are three others, for writes, for control and for messages.
    package var readConnections = 4
    /// How often the server is tried again, and asked for purges.
    package var interval = Duration.milliseconds(1_000)

    /// The defaults for the server at `address`.
    package init(address: SharedCacheAddress) {
        self.address = address
    }
}

/// The proof of the service's identity to the server and to other instances; never shown.
package struct SharedCacheCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    /// The user; nil for the default one.
    package var user: String?
    /// The password; nil if the server wants none.
    package var password: String?
    /// The key that seals values and purges, the same for all instances; nil if a plain hash is enough.
    package var key: [UInt8]?

    package init() {}

    /// Three dots, so that no log shows the credentials.
    package var description: String { "…" }
    /// Empty, so that reflection does not show the credentials.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
