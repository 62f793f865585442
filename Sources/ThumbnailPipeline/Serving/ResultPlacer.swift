package import Downloading
import Imaging
import Memory
package import Text
package import ThumbnailTypes

/// A result that was put at the place that its caller has named.
package struct PlacedResult: Sendable, Equatable {
    /// The place, as `NAME:PATH`.
    package let location: String
    package let mediaType: String
    /// The length of the result.
    package let bytes: Int
    /// The strong entity tag of the result's bytes, with its quotes.
    package let eTag: String
}

/// Puts results at the places that callers name.
package struct ResultPlacer: Sendable {
    private let origins: WritableOrigins?

    /// One that has places in `origins`; without them there are none.
    package init(_ origins: WritableOrigins? = nil) {
        self.origins = origins
    }

    /// The place that a caller names.
    package func destination(_ text: ExactText) throws(Destination.Refusal) -> Destination {
        try Destination(text, among: origins?.origins ?? Origins())
    }

    /// Whether there is something at a place.
    ///
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    package func holds(_ destination: Destination) async throws -> Bool {
        do {
            return try await origins?.holds(destination) ?? false
        } catch let error as DownloadError where error != .shuttingDown {
            throw PlacingError(error)
        }
    }

    /// Puts a thumbnail there, with the `Cache-Control` of the place, else with what the origin said of the source.
    ///
    /// - Parameters:
    ///   - thumbnail: The result.
    ///   - destination: The place.
    ///   - source: The image in hand that it was made from; nil for one that was fetched for it alone.
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    package func put(
        _ thumbnail: Thumbnail, at destination: Destination, of source: OpenedSource? = nil
    ) async throws -> PlacedResult {
        let image = thumbnail.image
        let freshness = source.map { $0.freshness(of: thumbnail) } ?? thumbnail.freshness
        do {
            try await origins?.put(
                image.bytes, at: destination,
                ObjectDescription(
                    mediaType: image.format.mediaType,
                    cacheControl: destination.cacheControl ?? freshness?.lastingCacheControl))
        } catch let error as DownloadError where error != .shuttingDown {
            throw PlacingError(error)
        }
        return PlacedResult(
            location: destination.location, mediaType: image.format.mediaType, bytes: image.bytes.count,
            eTag: thumbnail.eTag)
    }
}
