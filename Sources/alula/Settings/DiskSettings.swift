import DiskCaching
import ThumbnailPipeline

/// Whether anything is written to the disk, where, and how much.
struct DiskSettings: Sendable {
    /// How the service treats the disk.
    enum SessionMode: String, CaseIterable, Sendable {
        /// Writes where a path is set.
        case `default`
        /// Writes nothing, ever.
        case ephemeral
    }

    var mode = SessionMode.default
    /// The folder; nil for memory only.
    var path: String?
    /// Bytes for encoded sources.
    var sourceCapacity = 150 << 20
    /// Bytes for encoded results.
    var resultCapacity = 150 << 20

    /// What the store is to be; nil where nothing is written.
    var storeConfiguration: DiskStoreConfiguration? {
        guard mode == .default, let path else { return nil }
        return DiskStoreConfiguration(
            folder: path,
            capacities: [
                .source: sourceCapacity, .result: resultCapacity,
                // A record takes a kilobyte or two, and there is one for each source and for all results made from it.
                .record: max(1 << 20, (sourceCapacity + resultCapacity) / 16),
            ],
            contentVersion: PipelineDisk.contentVersion)
    }
}

/// The disk cache cannot be used, and the settings want it: said at the start, where somebody looks.
struct UnusableDiskCache: Error, CustomStringConvertible {
    let path: String
    let reason: DiskStoreError

    var description: String { "sourceCachePath: \"\(path)\" cannot be used: \(reason)" }
}
