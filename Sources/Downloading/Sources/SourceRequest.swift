package import Coordination
package import HTTPTypes
import Memory
import Text

package struct SourceRequest: Hashable, Sendable {
    package let identity: SourceIdentity
    package let directives: RequestCacheControl
    package let needsBytes: Bool
    /// True for a background revalidation, which never uses a stale copy.
    package let isBackground: Bool
    /// True for an operator's refresh: a response that is not an image is an error and replaces nothing.
    package let isRefresh: Bool
    /// Finds the bytes that the caller needs; nil fetches all.
    package private(set) var scan: SourceScan?
    /// The `traceparent` to send to the origin; nil without a trace.
    package let traceparent: String?
    /// The tenant in fair queues; nil for the service's own downloads, and without tenants.
    let flow: Flow?

    package init(
        identity: SourceIdentity, directives: RequestCacheControl = .none, needsBytes: Bool = true,
        isBackground: Bool = false, isRefresh: Bool = false, scan: SourceScan? = nil, traceparent: String? = nil,
        flow: Flow? = nil
    ) {
        self.identity = identity
        self.directives = directives
        self.needsBytes = needsBytes
        self.isBackground = isBackground
        self.isRefresh = isRefresh
        self.scan = identity.rules.configuration.fetchesRanges && identity.url.isOnWeb ? scan : nil
        self.traceparent = traceparent
        self.flow = flow
    }

    var withoutScan: SourceRequest {
        var request = self
        request.scan = nil
        return request
    }
}
