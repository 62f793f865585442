package import Downloading
import Memory
package import Recipes
package import Text
package import ThumbnailTypes

package struct StoredResult: Sendable, Equatable {
    package let location: String
    package let mediaType: String
    package let bytes: Int
    package let size: PixelSize
    /// The strong entity tag of the result's bytes, in quotes.
    package let eTag: String
}

package struct ResultWriter: Sendable {
    private let origins: WritableOrigins?
    /// The rules that list the visible origins; nil makes all origins visible.
    private let visible: DownloadRules?

    package init(_ origins: WritableOrigins? = nil, visible: DownloadRules? = nil) {
        self.origins = origins
        self.visible = visible
    }

    /// A writer for a tenant, which sees only the origins of these rules.
    package func narrowed(to rules: DownloadRules) -> ResultWriter { ResultWriter(origins, visible: rules) }

    package func destination(_ text: ExactText) throws(Destination.Rejection) -> Destination {
        guard let origins else { throw .notWritable }
        return try Destination(text, among: visible ?? origins.rules)
    }

    package func holds(_ destination: Destination) async throws -> Bool {
        try await ResultWriteError.replacingDownloadErrors { try await origins?.holds(destination) ?? false }
    }

    /// Uses the destination's `Cache-Control`, or else derives it from the source's freshness.
    ///
    /// - Parameter source: The opened image of the result; nil if the source was fetched for this result only.
    package func put(
        _ thumbnail: Thumbnail, at destination: Destination, of source: OpenedSource? = nil
    ) async throws -> StoredResult {
        let image = thumbnail.image
        let freshness = source.map { $0.freshness(of: thumbnail) } ?? thumbnail.freshness
        let description = ObjectDescription(
            mediaType: image.format.mediaType, cacheControl: destination.cacheControl ?? freshness?.lastingCacheControl)
        try await ResultWriteError.replacingDownloadErrors {
            try await origins?.put(image.bytes, at: destination, description: description)
        }
        return StoredResult(
            location: destination.location, mediaType: image.format.mediaType, bytes: image.bytes.count,
            size: image.size, eTag: thumbnail.eTag)
    }
}
