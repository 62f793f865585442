/// The folder and limits of the store; sizes in bytes.
package struct DiskStoreConfiguration: Sendable {
    /// The folder; it and the folders above it are made if they are missing.
    package var folder: String
    /// Bytes that each share may occupy; a share that is not named keeps nothing.
    package var capacities: [DiskShare: Int]
    /// Bytes that all notes together may occupy.
    package var noteCapacity = 16 << 20
    /// Version of the callers' entry headers, names and notes: a file of another version is emptied.
    package var contentVersion: Int
    /// Work that may wait for the disk.
    package var maximumPendingJobs = 512
    /// Bytes of bodies that may wait to be written; a single one may be larger.
    package var maximumPendingBytes = 64 << 20
    /// How long a reader waits before it goes without.
    package var readTimeLimit = Duration.milliseconds(500)
    /// How long the store does without its file after a failure; doubled with each that follows soon.
    package var retryDelay = Duration.seconds(60)
    /// Upper bound of the doubled delays.
    package var maximumRetryDelay = Duration.seconds(3_600)

    /// A store in `folder`.
    package init(folder: String, capacities: [DiskShare: Int], contentVersion: Int) {
        self.folder = folder
        self.capacities = capacities
        self.contentVersion = contentVersion
    }
}
