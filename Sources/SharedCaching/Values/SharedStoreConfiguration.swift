/// The use of a shared store; sizes in bytes.
package struct SharedStoreConfiguration: Sendable {
    /// The total time that one request may wait for it.
    package var timeout = Duration.milliseconds(200)
    /// Whether only reads and purges are sent.
    package var isReadOnly = false
    /// The key that seals values in a folder or bucket, the same for all instances; nil if a plain hash is enough.
    package var key: [UInt8]?
    /// The maximum size of unconfirmed writes.
    package var maximumQueueBytes = 16 << 20
    /// The maximum size of a value.
    package var maximumValueBytes = 8 << 20
    /// The interval between attempts to connect, and between queries for purges.
    package var interval = Duration.milliseconds(1_000)

    package init() {}
}
