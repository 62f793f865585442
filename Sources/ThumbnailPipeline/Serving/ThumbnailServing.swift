import Downloading
package import HTTPTypes
package import Memory
package import Recipes
package import Text
package import ThumbnailTypes

package typealias ThumbnailServing = ThumbnailLookup & ThumbnailRendering & SourceOpening

/// Looks up cached thumbnails.
///
/// Never blocks; called on the event threads.
package protocol ThumbnailLookup: Sendable {
    /// Resolves the sources of a request, once for all its repetitions.
    func resolved(_ request: Request) -> ResolvedRequest

    /// Returns the thumbnail if the result cache has it and it is usable at once.
    func cachedThumbnail(for request: ResolvedRequest) -> Thumbnail?

    /// Records the tags of a request answered from the cache, so that a purge by them finds its source.
    ///
    /// - Parameter client: The client that supplied them; nil if they are signed.
    func noteTags(of request: ResolvedRequest, by client: ClientNetwork?)

    /// Changes whenever anything other than time may change the result of ``cachedThumbnail(for:)``.
    var generation: Int { get }

    /// Counts a response repeated within a second and a generation without looking up its thumbnail.
    func countRepeatedHit()

    /// Returns the reason to reject a request that is not cached; nil if it may proceed.
    func refusal(of request: ResolvedRequest) -> (any ServiceError)?

    /// Returns a lookup of the result in the shared cache, which needs no task; nil if that is not the next step of the
    /// request.
    func pendingLookup(for request: ResolvedRequest) -> (any PendingLookup)?

    /// Returns whether an absolute URL may be fetched as a source, judging by its text.
    func mayFetch(_ url: ExactText) -> Bool

    /// Returns whether the operator has allowed the host of an absolute URL by name, rather than every host.
    func isAllowedByName(_ url: ExactText) -> Bool
}

/// Renders thumbnails, and returns facts about sources, with as little work as possible.
///
/// Cancelling the task ends only this caller's part. All methods throw a ``ServiceError`` or `CancellationError`.
package protocol ThumbnailRendering: Sendable {
    func thumbnail(for job: Job) async throws -> Thumbnail

    /// Returns the facts about a job's source; the rest of its request is ignored.
    ///
    /// - Parameter request: The facts to compute besides those of the header.
    func facts(_ request: FactsRequest, for job: Job) async throws -> SourceFacts

    func placeholder(_ placeholder: Placeholder) async throws -> EncodedImage
}

package protocol SourceOpening: Sendable {
    /// Opens an uploaded image.
    ///
    /// - Throws: A ``ServiceError`` if the file is not an image, or its header is unreadable; `CancellationError`.
    func opened(upload bytes: SharedBytes) async throws -> OpenedSource

    /// Opens the source of a job, fetched once for all results derived from it.
    func opened(for job: Job) async throws -> OpenedSource

    /// Returns a request for an opened image; the source named in the request is ignored.
    func resolved(_ request: Request, of source: OpenedSource) -> ResolvedRequest

    func close(_ source: OpenedSource)
}

/// A lookup of a result in the shared cache: a sequence of queries, until one reply ends it.
///
/// Used by one event thread at a time; nothing blocks.
package protocol PendingLookup: AnyObject, Sendable {
    /// Sends the next query; `ready` is called once, on any thread, possibly at once.
    func begin(_ ready: @escaping @Sendable () -> Void)

    /// Returns the outcome of the reply; called after `ready`.
    func finish() -> PendingLookupOutcome
}

package enum PendingLookupOutcome: Sendable {
    case thumbnail(Thumbnail)
    case question
    /// The thumbnail must be rendered, or the reply is so large that a task reads it.
    case work(EarlierLookup)
}
