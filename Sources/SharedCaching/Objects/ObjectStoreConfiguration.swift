/// How a store of objects is used.
package struct ObjectStoreConfiguration: Sendable {
    /// How long one request may wait for it, in all.
    package var timeout = Duration.milliseconds(200)
    /// Whether it is only read, and purged.
    package var isReadOnly = false
    /// The key that seals values, the same for all instances; nil if a plain hash is enough.
    package var key: [UInt8]?
    /// Most bytes of writes that wait.
    package var maximumQueueBytes = 16 << 20
    /// The largest value, in bytes.
    package var maximumValueBytes = 8 << 20
    /// How often a place that fails is tried again, and how long the generation of everything is remembered.
    package var interval = Duration.milliseconds(1_000)

    /// The defaults.
    package init() {}
}
