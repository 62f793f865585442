/// A job that has begun.
package struct PrefetchJob: Sendable, Equatable {
    /// The name under which its progress is asked for.
    package let id: String
    /// Whether it is written down, and goes on after a restart.
    package let survivesRestart: Bool

    /// A job of this name.
    package init(id: String, survivesRestart: Bool) {
        self.id = id
        self.survivesRestart = survivesRestart
    }
}

/// How far a job has come.
package struct PrefetchStatus: Sendable, Equatable {
    /// Thumbnails in the job.
    package let total: Int
    /// Made, or found made.
    package let done: Int
    /// Given up.
    package let failed: Int

    /// Not tried yet, or under way.
    package var left: Int { total - done - failed }

    /// A job that has come so far.
    package init(total: Int, done: Int, failed: Int) {
        self.total = total
        self.done = done
        self.failed = failed
    }
}

/// Makes thumbnails ahead of their readers: what the operators' listener needs.
package protocol Prefetching: Sendable {
    /// Begins a job that makes the thumbnails at these targets.
    ///
    /// - Throws: ``PipelineError/tooManyPrefetchJobs``.
    func begin(_ targets: [String]) async throws -> PrefetchJob

    /// How far a job has come; nil when there is none of the name, or no more.
    func status(of id: String) async -> PrefetchStatus?
}
