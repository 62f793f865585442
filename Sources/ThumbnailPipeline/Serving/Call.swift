import Coordination
package import Downloading
package import HTTPTypes
package import ThumbnailTypes

/// One caller's request on its way.
package struct Call: Sendable {
    let recurring: RecurringRequest
    /// The caller's orders to the caches.
    var directives: RequestCacheControl
    /// The name under which an operator can cancel the caller's wait for its downloads.
    let receipt: String
    /// The earlier look into the shared cache; nil if there was none.
    var look: EarlierLook?
    /// The client that names the request's tags; nil if they are signed or an operator's.
    var client: ClientNetwork?
    /// The time that the call has waited for what instances share.
    var allowances: LayerAllowances

    /// A call of this name for a request.
    ///
    /// - Parameters:
    ///   - look: The look into the shared cache that was not enough for it.
    ///   - client: The client that names its tags; nil if they are signed or an operator's.
    package init(
        _ recurring: RecurringRequest, directives: RequestCacheControl = .none, after look: EarlierLook? = nil,
        by client: ClientNetwork? = nil, receipt: String
    ) {
        self.client = client
        self.recurring = recurring
        self.directives = directives
        self.look = look
        self.receipt = receipt
        allowances = look?.allowances ?? LayerAllowances()
    }

    /// The request that the caller makes.
    package var request: ThumbnailRequest { recurring.request }

    /// The identities of the request's sources.
    ///
    /// - Throws: A ``ServiceError`` if one of them has none.
    var sources: PerSource<SourceIdentity> { get throws { try recurring.sources.get() } }

    /// The image, if the caller has it in hand.
    var opened: OpenedSource? { recurring.opened }

    /// The same call once more, without orders to the caches except one that forbids a download.
    var again: Call {
        var call = self
        call.directives = .none
        call.directives.onlyIfCached = directives.onlyIfCached
        return call
    }
}
