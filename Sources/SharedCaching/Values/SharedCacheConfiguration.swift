import Text

package struct SharedCacheConfiguration: Sendable {
    package var address: SharedCacheAddress
    package var credentials = SharedCacheCredentials()
    /// A PEM file of authorities; nil for those of the system.
    package var authorities: String?
    package var requestTimeout = Duration.seconds(15)
    package var store = SharedStoreConfiguration()
    /// The number of connections for reads; three others serve writes, control and messages.
    package var readConnections = 4

    package init(address: SharedCacheAddress) {
        self.address = address
        store.timeout = .milliseconds(50)
    }
}

package struct SharedCacheCredentials: Sendable, Redacted {
    package var user: String?
    package var password: String?
    /// The key that signs values and purges, the same for all instances; nil uses a plain hash.
    package var key: [UInt8]?

    package init() {}
}

/// The configuration of a store, with sizes in bytes.
package struct SharedStoreConfiguration: Sendable {
    package var timeout = Duration.milliseconds(200)
    package var isReadOnly = false
    /// The key that signs values in a folder or bucket, the same for all instances; nil uses a plain hash.
    package var key: [UInt8]?
    package var maximumQueueBytes = 16 << 20
    package var maximumValueBytes = 8 << 20
    /// The time between attempts to connect, and between queries for purges.
    package var interval = Duration.milliseconds(1_000)

    package init() {}
}
