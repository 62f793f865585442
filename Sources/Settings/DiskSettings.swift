package import DiskCaching
import ThumbnailPipeline

/// Whether the service writes to the disk, in which folder, and how much.
package struct DiskSettings: Sendable {
    /// How the service treats the disk.
    package enum SessionMode: String, CaseIterable, Sendable {
        /// Writes if a path is set.
        case `default`
        /// Writes nothing, ever.
        case ephemeral
    }

    /// Whether anything is written.
    package var mode = SessionMode.default
    /// The folder; nil for memory only.
    var path: String?
    /// Bytes for encoded sources.
    var sourceCapacity = 150 << 20
    /// Bytes for encoded results.
    var resultCapacity = 150 << 20

    /// The configuration of the disk store; nil if nothing is written.
    package var storeConfiguration: DiskStoreConfiguration? {
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

/// The disk cache that the settings want cannot be used; it stops the start, so that the operator sees it.
package struct UnusableDiskCache: Error, CustomStringConvertible {
    let path: String
    let reason: DiskStoreError

    /// The folder at `path` failed for this reason.
    package init(path: String, reason: DiskStoreError) {
        (self.path, self.reason) = (path, reason)
    }

    package var description: String { "sourceCachePath: \"\(path)\" cannot be used: \(reason)" }
}
