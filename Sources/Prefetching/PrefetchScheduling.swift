package import ThumbnailTypes

package protocol PrefetchScheduling: Sendable {
    /// Reports the job's end to the URL `callback`.
    ///
    /// Throws ``TooManyPrefetchJobs`` or ``MemoryBudget/Full``.
    func begin(_ items: [PrefetchItem], callback: String?) async throws -> PrefetchJob

    func status(of id: String) async -> PrefetchStatus?

    /// Returns the jobs, oldest first.
    func jobs() async -> [(id: String, status: PrefetchStatus)]

    /// Cancels a job, unless it has ended; returns false if there is no such job.
    func cancel(_ id: String) async -> Bool
}

package struct PrefetchJob: Sendable, Equatable {
    package let id: String
    package let survivesRestart: Bool
}

package struct TooManyPrefetchJobs: ServiceError {
    package var response: ErrorResponse { .overloaded("Too many prefetch jobs are running.", retryAfter: 30) }
}
