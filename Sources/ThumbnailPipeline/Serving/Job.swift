import Coordination
import Downloading
package import HTTPTypes
package import ThumbnailTypes

/// One caller's request in progress, from the door to the response.
package struct Job: Sendable {
    package let resolved: ResolvedRequest
    package var directives: RequestCacheControl
    /// The name by which an operator can cancel the caller's wait for its downloads.
    package let receipt: String
    /// The insufficient lookup without a task; nil if there was none.
    package var lookup: EarlierLookup?
    /// The client that supplied the request's tags; nil if they are signed or an operator's.
    package let client: ClientNetwork?
    /// The time that the job has waited for the shared layers.
    var allowances = LayerAllowances()

    package init(
        _ resolved: ResolvedRequest, directives: RequestCacheControl = .none, by client: ClientNetwork? = nil,
        receipt: String
    ) {
        (self.resolved, self.directives, self.client, self.receipt) = (resolved, directives, client, receipt)
    }

    package var request: Request { resolved.request }

    /// The identities of the request's sources.
    ///
    /// - Throws: A ``ServiceError`` if one of them has none.
    var sources: PerSource<SourceIdentity> { get throws { try resolved.sources.get() } }

    /// The image, if the caller has opened it.
    package var opened: OpenedSource? { resolved.opened }

    /// The job after an insufficient lookup without a task.
    package func after(_ lookup: EarlierLookup) -> Job {
        var job = self
        (job.lookup, job.allowances) = (lookup, lookup.allowances)
        return job
    }

    /// The same job for a retry, without cache directives except one that forbids a download.
    var again: Job {
        var job = self
        job.directives = .none
        job.directives.onlyIfCached = directives.onlyIfCached
        return job
    }

    /// A job for another request of the same caller, after the same waits.
    func with(_ resolved: ResolvedRequest) -> Job {
        var job = Job(resolved, directives: directives, receipt: receipt)
        job.allowances = allowances
        return job
    }
}
