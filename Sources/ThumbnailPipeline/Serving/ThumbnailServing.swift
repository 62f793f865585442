package import Downloading
package import Imaging
package import Memory
package import Text
package import ThumbnailTypes

/// All that the API needs of the pipeline.
package typealias ThumbnailServing = ThumbnailLookup & ThumbnailMaking & SourceOpening

/// Looks for thumbnails that are there.
///
/// Never blocks; called on the event threads.
package protocol ThumbnailLookup: Sendable {
    /// The request with its sources resolved: done once for all times that it comes.
    func resolved(_ request: ThumbnailRequest) -> RecurringRequest

    /// The thumbnail if it can be answered from the result cache at once.
    func cachedThumbnail(for request: RecurringRequest) -> Thumbnail?

    /// Notes the tags of a request whose thumbnail was there, so that a purge by them finds its source.
    ///
    /// - Parameter client: The client that names them; nil if they are signed.
    func noteTags(of request: RecurringRequest, by client: ClientNetwork?)

    /// Changes whenever something else than the passing of time may change what ``cachedThumbnail(for:)`` gives.
    var generation: Int { get }

    /// Counts an answer that was given again, within a second and a generation, without asking for its thumbnail.
    func countRepeatedHit()

    /// Why a request that cannot be answered at once is refused at once; nil when it may go on.
    func refusal(of request: RecurringRequest) -> (any ServiceError)?

    /// A look for the result where instances share results, which needs no task; nil if that is not the next step of
    /// the request.
    func sharedLook(for request: RecurringRequest) -> (any SharedLooking)?

    /// Whether an absolute URL could be fetched as a source, as far as its text tells.
    func mayFetch(_ url: ExactText) -> Bool

    /// Whether the operator has allowed the host of an absolute URL by its name, and not every host.
    func isAllowedByName(_ url: ExactText) -> Bool
}

/// Makes thumbnails, and finds out about sources, with as little work as possible.
///
/// Cancelling the task gives up this caller's share only. All methods throw a ``ServiceError`` or `CancellationError`.
package protocol ThumbnailMaking: Sendable {
    /// The thumbnail.
    func thumbnail(for call: Call) async throws -> Thumbnail

    /// The facts about a call's source; nothing else in its request counts.
    ///
    /// - Parameter asked: The facts that are computed besides those of the header.
    func facts(_ asked: FactsRequest, for call: Call) async throws -> SourceFacts

    /// A plain image of one color, made without a source.
    func placeholder(_ placeholder: Placeholder) async throws -> EncodedImage
}

/// Opens sources of which many results are made.
package protocol SourceOpening: Sendable {
    /// An image that a client sent.
    ///
    /// - Throws: A ``ServiceError`` for a file that is no image, or whose header cannot be read; `CancellationError`.
    func opened(upload bytes: SharedBytes) async throws -> OpenedSource

    /// The source of a call, fetched once for all that is made from it.
    ///
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    func opened(for call: Call) async throws -> OpenedSource

    /// A request for an opened image; the source that the request names does not count.
    func resolved(_ request: ThumbnailRequest, of source: OpenedSource) -> RecurringRequest

    /// Ends the use of an opened image.
    func close(_ source: OpenedSource)
}

/// A look for a result where instances share results: one question after the other, until one answer ends it.
///
/// Used by one event thread at a time; nothing blocks.
package protocol SharedLooking: AnyObject, Sendable {
    /// Asks the next question; `ready` is called once, on any thread, perhaps at once.
    func begin(_ ready: @escaping @Sendable () -> Void)

    /// The outcome of the answer; called after `ready`.
    func finish() -> SharedLookOutcome
}

/// The outcome of an answer to a look.
package enum SharedLookOutcome: Sendable {
    /// The look has ended with the thumbnail.
    case thumbnail(Thumbnail)
    /// There is another question to ask.
    case question
    /// The thumbnail must be made, or the answer is so large that a task reads it.
    case work(EarlierLook)
}
