import Text
import ThumbnailPipeline

/// A target that was read and judged once, with what its answers will need again and again.
final class PreparedQuery: Sendable {
    /// The route that read it.
    let route: ImageRoute
    /// What the target says.
    let query: ThumbnailQuery
    /// The request in it, as the pipeline wants it for what is asked often.
    let recurring: RecurringRequest
    /// Unix seconds after which the target is worth nothing.
    let expires: Int?
    /// Whether the format is chosen by `Accept`.
    let isNegotiated: Bool
    /// The name of the answer's file, without its extension.
    let fileName: FileName

    /// Prepares the answers to `query`, which was read at `route`, with its request resolved.
    init(_ query: ThumbnailQuery, _ request: RecurringRequest, at route: ImageRoute) {
        self.route = route
        self.query = query
        expires = query.expires
        isNegotiated = query.isNegotiated
        recurring = request
        fileName = FileName(source: query.request.source.string)
    }
}
