import Downloading
package import HTTPTypes
package import Memory
package import Recipes
package import Text
package import ThumbnailTypes

package typealias ThumbnailServing = ThumbnailLookup & ThumbnailRendering & SourceOpening

/// Never blocks; called on the event threads.
package protocol ThumbnailLookup: Sendable {
    func resolved(_ request: Request) -> ResolvedRequest

    func cachedThumbnail(for request: ResolvedRequest) -> Thumbnail?

    /// - Parameter client: Nil if the tags are signed.
    func recordTags(of request: ResolvedRequest, by client: ClientNetwork?)

    /// Changes whenever anything other than time may change the result of ``cachedThumbnail(for:)``.
    var cacheVersion: Int { get }

    /// Counts a response repeated within a second and a generation without looking up its thumbnail.
    func countRepeatedHit()

    func overload(for job: Job) -> (any ServiceError)?

    /// Nil if a lookup without a task is not the next step of the request.
    func pendingLookup(for request: ResolvedRequest) -> (any PendingLookup)?

    /// Judges by the text only.
    func mayFetch(_ url: ExactText) -> Bool

    /// Whether the operator allowed this host by name, rather than every host.
    func isAllowedByName(_ url: ExactText) -> Bool
}

/// Canceling the task ends only this caller's part; all methods throw a ``ServiceError`` or `CancellationError`.
package protocol ThumbnailRendering: Sendable {
    func thumbnail(for job: Job) async throws -> Thumbnail

    /// Uses only the source of the job's request.
    func facts(_ request: FactsRequest, for job: Job) async throws -> SourceFacts

    func placeholder(_ placeholder: Placeholder, bill: RequestBill?) async throws -> EncodedImage
}

package protocol SourceOpening: Sendable {
    /// Throws if the file is not an image, or its header is unreadable.
    func open(upload bytes: SharedBytes, of client: ClientNetwork?) async throws -> OpenedSource

    func open(for job: Job) async throws -> OpenedSource

    /// The source named in the request is ignored.
    func resolved(_ request: Request, of source: OpenedSource) -> ResolvedRequest

    func close(_ source: OpenedSource)
}

/// A lookup of a result in the shared cache: queries until one reply ends it.
///
/// Used by one event thread at a time; nothing blocks.
package protocol PendingLookup: AnyObject, Sendable {
    /// Sends the next query; `ready` is called once, on any thread, possibly at once.
    func begin(_ ready: @escaping @Sendable () -> Void)

    /// Called after `ready`.
    func finish() -> PendingLookupOutcome
}

package enum PendingLookupOutcome: Sendable {
    case thumbnail(Thumbnail)
    case queryAgain
    /// The thumbnail must be rendered, or the reply is so large that a task reads it.
    case needsTask(EarlierLookup)
}
