import Coordination
import Downloading
import HTTPTypes

/// One caller's request on its way.
struct Call: Sendable {
    let request: ThumbnailRequest
    /// The identities of the request's sources.
    let sources: PerSource<SourceIdentity>
    /// The caller's orders to the caches.
    var directives: RequestCacheControl
    /// The name of the caller's wait for its downloads.
    let receipt: String
    /// The image, if the caller has it already.
    var given: GivenSource?
    /// The time that the call has waited for the shared cache.
    var allowance = WaitAllowance()
    /// The earlier look into the shared cache; nil if there was none.
    var look: EarlierLook?

    /// The same call once more, without orders to the caches except one that forbids a download.
    var again: Call {
        var directives = RequestCacheControl.none
        directives.onlyIfCached = self.directives.onlyIfCached
        return Call(
            request: request, sources: sources, directives: directives, receipt: receipt, given: given,
            allowance: allowance, look: look)
    }
}
