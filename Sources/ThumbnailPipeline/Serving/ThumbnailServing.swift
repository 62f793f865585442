package import HTTPTypes
package import Imaging
package import Memory
package import Text

/// Makes thumbnails: what the API needs of the pipeline.
package protocol ThumbnailServing: Sendable {
    /// The request with its sources resolved: done once for all times that it comes. Never blocks; called on the event
    /// threads.
    func resolved(_ request: ThumbnailRequest) -> RecurringRequest

    /// The thumbnail if it can be answered from the result cache at once. Never blocks; called on the event threads.
    func cachedThumbnail(for request: RecurringRequest) -> Thumbnail?

    /// Changes whenever something else than the passing of time may change what ``cachedThumbnail(for:)`` gives.
    var generation: Int { get }

    /// Counts an answer that was given again, within a second and a generation, without asking for its thumbnail.
    func countRepeatedHit()

    /// Why a request that cannot be answered at once is refused at once; nil when it may go on.
    ///
    /// Never blocks; called on the event threads.
    func refusal(of request: RecurringRequest) -> (any ServiceError)?

    /// The thumbnail, made with as little work as possible. Cancelling the task gives up this caller's share only.
    ///
    /// - Parameters:
    ///   - request: The request that the caller makes.
    ///   - directives: The caller's orders to the caches.
    ///   - receipt: Name under which an operator can cancel this caller's wait for a download.
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    func thumbnail(
        for request: RecurringRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> Thumbnail

    /// A look for the result where instances share results, which needs no task; nil if that is not the next step of
    /// the request.
    ///
    /// Never blocks; called on the event threads.
    func sharedLook(for request: RecurringRequest) -> (any SharedLooking)?

    /// The same as ``thumbnail(for:directives:receipt:)`` after a look that was not enough, nil without one.
    func thumbnail(
        for request: RecurringRequest, directives: RequestCacheControl, after look: EarlierLook?,
        receipt: String
    ) async throws -> Thumbnail

    /// The facts about a request's source.
    ///
    /// - Parameters:
    ///   - request: Names the source; nothing else in it counts.
    ///   - asked: The facts that are computed besides those of the header.
    ///   - directives: The caller's orders to the caches.
    ///   - receipt: Name under which an operator can cancel this caller's wait for a download.
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    func facts(
        for request: RecurringRequest, asked: FactsRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> SourceFacts

    /// An image that a client sent.
    ///
    /// - Throws: A ``ServiceError`` for a file that is no image, or whose header cannot be read; `CancellationError`.
    func opened(upload bytes: SharedBytes) async throws -> GivenSource

    /// The source of a request, fetched once for all that is made from it; ``close(_:)`` ends its use.
    ///
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    func opened(
        _ request: RecurringRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> GivenSource

    /// A result that is made from an image in hand; the request's own source does not count.
    ///
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    func thumbnail(of given: GivenSource, for request: ThumbnailRequest, receipt: String) async throws -> Thumbnail

    /// Facts about an image in hand.
    ///
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    func facts(of given: GivenSource, asked: FactsRequest, receipt: String) async throws -> SourceFacts

    /// Ends the use of an image in hand.
    func close(_ given: GivenSource)

    /// Whether an absolute URL could be fetched as a source, as far as its text tells.
    func mayFetch(_ url: ExactText) -> Bool

    /// Whether the operator has allowed the host of an absolute URL by its name, and not every host.
    func isAllowedByName(_ url: ExactText) -> Bool

    /// A plain image of `color` in the size of the request's box, made without its source.
    func placeholder(_ placeholder: Placeholder) async throws -> EncodedImage
}

extension ThumbnailServing {
    /// None: nothing is shared.
    package func sharedLook(for request: RecurringRequest) -> (any SharedLooking)? { nil }

    /// The thumbnail without regard to a look.
    package func thumbnail(
        for request: RecurringRequest, directives: RequestCacheControl, after look: EarlierLook?,
        receipt: String
    ) async throws -> Thumbnail {
        try await thumbnail(for: request, directives: directives, receipt: receipt)
    }
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
