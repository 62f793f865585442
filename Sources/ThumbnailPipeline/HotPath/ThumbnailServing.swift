package import HTTPTypes
package import Imaging
package import Text

/// Makes thumbnails: what the API needs of the pipeline.
package protocol ThumbnailServing: Sendable {
    /// The request with its sources resolved: done once for all times that it comes. Never blocks; called on the event threads.
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
    ///   - request: What is wanted.
    ///   - directives: What the caller asks of the caches.
    ///   - receipt: Name under which an operator can cancel this caller's wait for a download.
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    func thumbnail(
        for request: RecurringRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> Thumbnail

    /// What is known of a request's source.
    ///
    /// - Parameters:
    ///   - request: Names the source; nothing else in it counts.
    ///   - asked: What is computed besides what the header says.
    ///   - directives: What the caller asks of the caches.
    ///   - receipt: Name under which an operator can cancel this caller's wait for a download.
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    func facts(
        for request: RecurringRequest, asked: FactsRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> SourceFacts

    /// Whether an absolute URL could be fetched as a source, as far as its text tells.
    func mayFetch(_ url: ExactText) -> Bool

    /// A plain image of `color` in the size of the request's box, made without its source.
    func placeholder(for request: ThumbnailRequest, color: Color) async throws -> EncodedImage
}
