import Downloading
package import HTTPTypes
package import Memory
package import Recipes
package import Text
package import ThumbnailTypes

package typealias ThumbnailServing = ThumbnailLookup & ThumbnailRendering & SourceOpening

/// Lookups on the event threads; no method blocks.
package protocol ThumbnailLookup: Sendable {
    func resolved(_ request: Request) -> ResolvedRequest

    func cachedThumbnail(for request: ResolvedRequest) -> Thumbnail?

    /// - Parameter client: The client whose tags are limited; nil if the tags are signed.
    func recordTags(of request: ResolvedRequest, by client: ClientNetwork?)

    /// Changes when ``cachedThumbnail(for:)`` may return something else for a reason other than time.
    var cacheVersion: Int { get }

    /// Counts a hit for a response that was repeated without a lookup, within a second at the same ``cacheVersion``.
    func countRepeatedHit()

    func rejection(for job: Job) -> (any ServiceError)?

    /// Returns a lookup in the shared cache; nil if the request needs a task.
    func pendingLookup(for request: ResolvedRequest) -> (any PendingLookup)?

    /// Whether the rules allow the URL; does not resolve the host name.
    func mayFetch(_ url: ExactText) -> Bool

    /// Whether the operator allows this host by name, and not only every host.
    func isAllowedByName(_ url: ExactText) -> Bool
}

/// Rendering in tasks; canceling the task ends only this caller's wait, not shared work.
///
/// Methods throw a ``ServiceError`` or `CancellationError`.
package protocol ThumbnailRendering: Sendable {
    func thumbnail(for job: Job) async throws -> Thumbnail

    /// Returns facts about the source of the job's request.
    func facts(_ request: FactsRequest, for job: Job) async throws -> SourceFacts

    func placeholder(_ placeholder: Placeholder, bill: RequestBill?) async throws -> EncodedImage
}

package protocol SourceOpening: Sendable {
    /// Opens an uploaded file; throws if its format is unknown or its header is unreadable.
    func open(upload bytes: SharedBytes, of client: ClientNetwork?, bill: RequestBill?) async throws -> OpenedSource

    func open(for job: Job) async throws -> OpenedSource

    /// Resolves a request for an opened source; ignores the source that the request names.
    func resolved(_ request: Request, of source: OpenedSource) -> ResolvedRequest

    func close(_ source: OpenedSource)
}

/// A lookup of a result in the shared cache, in one or more queries.
///
/// Used by one event thread at a time; no method blocks.
package protocol PendingLookup: AnyObject, Sendable {
    /// Sends the next query; `completion` is called once, on any thread, possibly before this method returns.
    func begin(completion: @escaping @Sendable () -> Void)

    /// Returns the outcome; call it after `completion`.
    func finish() -> PendingLookupOutcome
}

package enum PendingLookupOutcome: Sendable {
    case thumbnail(Thumbnail)
    case queryAgain
    /// A task must render the thumbnail, or read a reply that is too large for an event thread.
    case needsTask(EarlierLookup)
}
