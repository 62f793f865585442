import Coordination
package import Downloading
package import HTTPTypes
package import ThumbnailTypes

/// A caller's request in progress.
package struct Call: Sendable {
    let recurring: RecurringRequest
    var directives: RequestCacheControl
    /// The name by which an operator can cancel the caller's wait for its downloads.
    let receipt: String
    /// The earlier lookup in the shared cache; nil if there was none.
    var look: EarlierLookup?
    /// The client that supplied the request's tags; nil if they are signed or an operator's.
    var client: ClientNetwork?
    /// The time that the call has waited for the shared layers.
    var allowances: LayerAllowances

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - look: The insufficient lookup in the shared cache.
    ///   - client: The client that supplied its tags; nil if they are signed or an operator's.
    package init(
        _ recurring: RecurringRequest, directives: RequestCacheControl = .none, after look: EarlierLookup? = nil,
        by client: ClientNetwork? = nil, receipt: String
    ) {
        self.client = client
        self.recurring = recurring
        self.directives = directives
        self.look = look
        self.receipt = receipt
        allowances = look?.allowances ?? LayerAllowances()
    }

    package var request: ThumbnailRequest { recurring.request }

    /// The identities of the request's sources.
    ///
    /// - Throws: A ``ServiceError`` if one of them has none.
    var sources: PerSource<SourceIdentity> { get throws { try recurring.sources.get() } }

    /// The image, if the caller has opened it.
    var opened: OpenedSource? { recurring.opened }

    /// The same call for a retry, without cache directives except one that forbids a download.
    var again: Call {
        var call = self
        call.directives = .none
        call.directives.onlyIfCached = directives.onlyIfCached
        return call
    }
}
