/// The configuration of a store, with sizes in bytes.
package struct DiskStoreConfiguration: Sendable {
    package var folder: String
    package var capacities: [DiskPartition: Int]
    package var noteCapacity = 16 << 20
    /// The version of the callers' encoding; a file from another version is emptied.
    package var contentVersion: Int
    package var maximumPendingJobs = 512
    package var maximumPendingBytes = 64 << 20
    /// The time after which a lookup counts as a miss.
    package var readTimeLimit = Duration.milliseconds(500)
    package var fullDelay = Duration.seconds(10)
    /// The time without a file after a failure; doubles if the next failure follows soon.
    package var retryDelay = Duration.seconds(60)
    package var maximumRetryDelay = Duration.seconds(3_600)

    package init(folder: String, capacities: [DiskPartition: Int], contentVersion: Int) {
        self.folder = folder
        self.capacities = capacities
        self.contentVersion = contentVersion
    }

    var entryCapacity: Int { capacities.values.reduce(0, +) }
}
