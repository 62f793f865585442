/// Sizes are in bytes.
package struct SharedStoreConfiguration: Sendable {
    package var timeout = Duration.milliseconds(200)
    package var isReadOnly = false
    /// Seals values in a folder or bucket, the same for all instances; nil if a plain hash is enough.
    package var key: [UInt8]?
    package var maximumQueueBytes = 16 << 20
    package var maximumValueBytes = 8 << 20
    /// Between attempts to connect, and between queries for purges.
    package var interval = Duration.milliseconds(1_000)

    package init() {}
}
