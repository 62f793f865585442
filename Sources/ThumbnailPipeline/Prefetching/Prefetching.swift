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

    /// Why thumbnails were given up, the first ones; those that an earlier process gave up are only counted.
    package let failures: [PrefetchFailure]

    /// Not tried yet, or under way.
    package var left: Int { total - done - failed }

    /// A job that has come so far.
    package init(total: Int, done: Int, failed: Int, failures: [PrefetchFailure] = []) {
        self.total = total
        self.done = done
        self.failed = failed
        self.failures = failures
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

    /// The failure of the thumbnail at `target`.
    package init(target: String, source: String, code: String, reason: String) {
        self.target = target
        self.source = source
        self.code = code
        self.reason = reason
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
