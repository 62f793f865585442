/// One thumbnail that is to be made ahead of its first reader.
package struct PrefetchItem: Sendable {
    /// The target that a reader would ask for, as it is written down; without line ends.
    package let target: String
    /// What it says.
    package let request: ThumbnailRequest

    /// The thumbnail at `target`.
    package init(target: String, request: ThumbnailRequest) {
        self.target = target
        self.request = request
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
    /// Begins a job; its name.
    ///
    /// - Throws: ``PipelineError/tooManyPrefetchJobs``.
    func begin(_ items: [PrefetchItem]) async throws -> String

    /// How far a job has come; nil when there is none of the name, or no more.
    func status(of id: String) -> PrefetchStatus?
}
