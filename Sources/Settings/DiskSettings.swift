package import DiskCaching
import ThumbnailPipeline

package struct DiskSettings: Sendable {
    package enum SessionMode: String, CaseIterable, Sendable {
        /// Writes to disk if a path is set.
        case `default`
        case ephemeral
    }

    package var mode = SessionMode.default
    var path: String?
    var sourceCapacity = 150 << 20
    var resultCapacity = 150 << 20

    package var storeConfiguration: DiskStoreConfiguration? {
        guard mode == .default, let path else { return nil }
        return DiskStoreConfiguration(folder: path, capacities: capacities, contentVersion: DiskLayer.contentVersion)
    }

    package var capacities: [DiskPartition: Int] {
        [
            .source: sourceCapacity, .result: resultCapacity,
            // A record takes one or two kilobytes, and each source has one for all its results.
            .record: max(1 << 20, (sourceCapacity + resultCapacity) / 16),
        ]
    }
}

package struct UnusableDiskCache: Error, CustomStringConvertible {
    let path: String
    let reason: DiskStoreError

    package init(path: String, reason: DiskStoreError) {
        self.path = path
        self.reason = reason
    }

    package var description: String { "sourceCachePath: \"\(path)\" cannot be used: \(reason)" }
}
