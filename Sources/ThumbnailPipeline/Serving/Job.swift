import Coordination
import Downloading
package import HTTPTypes
package import ThumbnailTypes

package struct Job: Sendable {
    package let resolved: ResolvedRequest
    package var directives: RequestCacheControl
    /// The name by which an operator can cancel the caller's wait for its downloads.
    package let receipt: String
    package var earlierLookup: EarlierLookup?
    /// The client whose tags are limited; nil if the tags are signed.
    package let tagClient: ClientNetwork?
    let client: ClientNetwork?
    var waits = LayerWaitBudgets()
    /// Receives the cost of the work that the job starts; nil for the operator's work.
    package let bill: RequestBill?

    package init(
        _ resolved: ResolvedRequest, directives: RequestCacheControl = .none, of client: ClientNetwork? = nil,
        tagClient: ClientNetwork? = nil, receipt: String, bill: RequestBill? = nil
    ) {
        self.bill = bill
        self.resolved = resolved
        self.directives = directives
        self.receipt = receipt
        self.client = client
        self.tagClient = tagClient
    }

    var flow: Flow { Self.flow(of: client, bill: bill) }

    /// The tenant's flow; for the default tenant, the client's.
    static func flow(of client: ClientNetwork?, bill: RequestBill?) -> Flow {
        bill?.flow ?? .client(client?.hashValue ?? 0, weight: bill?.weight ?? 1)
    }

    package var request: Request { resolved.request }

    /// - Throws: A ``ServiceError`` if a source has no identity.
    var sources: PerSource<SourceIdentity> { get throws { try resolved.sources.get() } }

    package var opened: OpenedSource? { resolved.opened }

    package func after(_ lookup: EarlierLookup) -> Job {
        var job = self
        job.earlierLookup = lookup
        job.waits = lookup.waits
        return job
    }

    /// The job without cache directives except `only-if-cached`.
    var retry: Job {
        var job = self
        job.directives = .none
        job.directives.onlyIfCached = directives.onlyIfCached
        return job
    }

    /// Applies the limits of the job's request to another request that the service makes for it.
    func limited(_ request: Request) -> Request {
        var request = request
        request.limits = self.request.limits
        return request
    }

    /// A job for another request of the same caller, with the same remaining waits.
    func with(_ resolved: ResolvedRequest) -> Job {
        var job = Job(resolved, directives: directives, of: client, receipt: receipt, bill: bill)
        job.waits = waits
        return job
    }
}
