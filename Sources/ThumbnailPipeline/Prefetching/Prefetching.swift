package import Downloading
package import ThumbnailTypes

package struct PrefetchItem: Sendable, Hashable {
    /// The request target, without spaces and line ends.
    package let target: String
    /// `NAME:PATH`; nil stores the thumbnail only in the caches.
    package let destination: String?
    /// `Cache-Control` of the stored object; nil uses the destination's or the thumbnail's own.
    package let cacheControl: String?

    package init(_ target: String, to destination: String? = nil, cacheControl: String? = nil) {
        self.target = target
        self.destination = destination
        self.cacheControl = cacheControl
    }
}

package struct PrefetchWork: Sendable {
    package let request: Request
    package let destination: Destination?
    let resultWriter: ResultWriter

    package init(
        _ request: Request, to destination: Destination? = nil, by resultWriter: ResultWriter = ResultWriter()
    ) {
        self.request = request
        self.destination = destination
        self.resultWriter = resultWriter
    }
}

package struct PrefetchJob: Sendable, Equatable {
    package let id: String
    package let survivesRestart: Bool
}

package struct PrefetchStatus: Sendable, Equatable {
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

    package enum State: String, Sendable, CaseIterable {
        case running, finished
        /// The raw value matches the error code `cancelled`.
        case canceled = "cancelled"
    }
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

package protocol Prefetching: Sendable {
    /// Reports the job's end to the URL `callback`.
    ///
    /// Throws ``PipelineError/tooManyPrefetchJobs`` or ``MemoryBudget/Full``.
    func begin(_ items: [PrefetchItem], callback: String?) async throws -> PrefetchJob

    func status(of id: String) async -> PrefetchStatus?

    /// Returns the jobs, oldest first.
    func jobs() async -> [(id: String, status: PrefetchStatus)]

    /// Cancels a job, unless it has ended; returns false if there is no such job.
    func cancel(_ id: String) async -> Bool
}

package struct PrefetchConfiguration: Sendable {
    package var maximumActive = 1
    /// The maximum number of jobs, including ended ones; a new job replaces the oldest ended one.
    package var maximumJobs = 100
    package var memory = Duration.seconds(3_600)
    /// Maximum bytes of ended jobs' reports; a new job replaces the oldest.
    package var maximumReportBytes = 16 << 20
    package var timeLimit = Duration.seconds(15)
    /// The number of attempts for a thumbnail that is rejected because of overload.
    package var attempts = 5
    package var pause = Duration.milliseconds(25)
    package var noteInterval = Duration.seconds(1)

    package init() {}
}
