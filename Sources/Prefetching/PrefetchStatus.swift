package import ThumbnailPipeline

package struct PrefetchStatus: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case running, finished
        /// The raw value matches the error code `cancelled`.
        case canceled = "cancelled"
    }

    package let total: Int
    package let done: Int
    package let failed: Int

    /// The first errors; errors from an earlier process are only counted.
    package var failures: [PrefetchFailure] = []
    /// The stored results, in order; those from an earlier process are only counted.
    package var results: [PrefetchResult] = []
    package var isCanceled = false

    /// The number of thumbnails that are pending or in progress.
    package var left: Int { isCanceled ? 0 : total - done - failed }

    package var state: State { isCanceled ? .canceled : left == 0 ? .finished : .running }
}

package struct PrefetchReport: Sendable, Equatable {
    package let id: String
    package let status: PrefetchStatus
    package let callback: String?
}

package struct PrefetchResult: Sendable, Equatable {
    package let target: String
    package let source: String
    package let stored: StoredResult
}

package struct PrefetchFailure: Sendable, Equatable {
    package let target: String
    package let source: String
    package let code: String
    package let reason: String
}
