/// The use of a store of objects.
package struct ObjectStoreConfiguration: Sendable {
    /// The total time that one request may wait for it.
    package var timeout = Duration.milliseconds(200)
    /// Whether it is only read, and purged.
    package var isReadOnly = false
    /// The key that seals values, the same for all instances; nil if a plain hash is enough.
    package var key: [UInt8]?
    package var maximumQueueBytes = 16 << 20
    package var maximumValueBytes = 8 << 20
    /// The interval between retries of a failing place, and the lifetime of the cached generation of everything.
    package var interval = Duration.milliseconds(1_000)

    package init() {}
}
