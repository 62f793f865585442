package import Downloading
package import ThumbnailTypes

/// A thumbnail of a job, as it is written down.
package struct PrefetchItem: Sendable, Hashable {
    /// The target of the request for it, without spaces and line ends.
    package let target: String
    /// The place where it is put, as `NAME:PATH`; nil if it stays in the caches alone.
    package let destination: String?
    /// The value of `Cache-Control` of what is put there; nil for that of the place or of the thumbnail.
    package let cacheControl: String?

    /// A thumbnail of `target`, which is put at `destination`.
    package init(_ target: String, to destination: String? = nil, cacheControl: String? = nil) {
        self.target = target
        self.destination = destination
        self.cacheControl = cacheControl
    }
}

/// The work that an item of a job stands for.
package struct PrefetchWork: Sendable {
    /// The request that makes the thumbnail.
    package let request: ThumbnailRequest
    /// The place where it is put; nil for the caches alone.
    package let destination: Destination?

    /// Work that answers `request` and puts the result at `destination`.
    package init(_ request: ThumbnailRequest, to destination: Destination? = nil) {
        self.request = request
        self.destination = destination
    }
}

/// A job that has begun.
package struct PrefetchJob: Sendable, Equatable {
    /// The name under which its progress is asked for.
    package let id: String
    /// Whether it is written down, and goes on after a restart.
    package let survivesRestart: Bool
}

/// How far a job has come.
package struct PrefetchStatus: Sendable, Equatable {
    /// Thumbnails in the job.
    package let total: Int
    /// Made, or found made.
    package let done: Int
    /// Given up.
    package let failed: Int

    /// Why thumbnails were given up, the first ones; those that an earlier process gave up are only counted.
    package var failures: [PrefetchFailure] = []
    /// The results at destinations, in the order in which they were put there; those of an earlier process are only
    /// counted.
    package var results: [PrefetchResult] = []

    /// Not tried yet, or under way.
    package var left: Int { total - done - failed }

    /// The state of the job.
    package var state: State { left == 0 ? .finished : .running }

    /// Whether a job goes on, by its name on the wire.
    package enum State: String, Sendable, CaseIterable {
        case running
        /// Nothing is left to try.
        case finished
    }
}

/// The end of a job, for those who are told of it.
package struct PrefetchReport: Sendable, Equatable {
    /// The job's name.
    package let id: String
    package let status: PrefetchStatus
    /// The URL that the job wants called; nil for none.
    package let callback: String?
}

/// A thumbnail of a job that was put at its destination.
package struct PrefetchResult: Sendable, Equatable {
    /// The target of the request for it.
    package let target: String
    /// Its source, as the job named it.
    package let source: String
    package let placed: PlacedResult

    package init(target: String, source: String, placed: PlacedResult) {
        self.target = target
        self.source = source
        self.placed = placed
    }
}

/// Why a thumbnail of a job was given up.
package struct PrefetchFailure: Sendable, Equatable {
    /// The target of the request for it.
    package let target: String
    /// Its source, as the job named it.
    package let source: String
    /// The error's code in the contract.
    package let code: String
    /// The error, as a sentence for operators.
    package let reason: String
}

/// Makes thumbnails ahead of their readers: what the operators' listener needs.
package protocol Prefetching: Sendable {
    /// Begins a job that makes these thumbnails, and tells its end to `callback`, a URL, if there is one.
    ///
    /// - Throws: ``PipelineError/tooManyPrefetchJobs``.
    func begin(_ items: [PrefetchItem], callback: String?) async throws -> PrefetchJob

    /// How far a job has come; nil when there is none of the name, or no more.
    func status(of id: String) async -> PrefetchStatus?
}

/// The bounds of prefetching.
package struct PrefetchConfiguration: Sendable {
    /// Thumbnails made at once.
    package var maximumActive = 1
    /// Jobs that are remembered, ended ones included; the oldest ended one gives way to a new one.
    package var maximumJobs = 100
    /// How long an ended job is remembered.
    package var memory = Duration.seconds(3_600)
    /// How long one thumbnail may take.
    package var timeLimit = Duration.seconds(15)
    /// How often a thumbnail is tried that was refused because the service had too much to do.
    package var attempts = 5
    /// While the service is busy: the time after which the prefetcher looks again.
    package var pause = Duration.milliseconds(25)
    /// Least time between two notes of a job's progress.
    package var noteInterval = Duration.seconds(1)

    package init() {}
}
