package import Imaging
package import ThumbnailPipeline

/// All that a target says, in whatever dialect.
package struct ThumbnailQuery: Hashable, Sendable {
    /// What is wanted of the pipeline.
    package var request: ThumbnailRequest
    /// Colour of the picture that takes the place of a source that fails.
    package var placeholder: Color?
    /// Unix seconds after which the target is worth nothing.
    package var expires: Int?

    /// A query for `request`.
    package init(request: ThumbnailRequest, placeholder: Color? = nil, expires: Int? = nil) {
        self.request = request
        self.placeholder = placeholder
        self.expires = expires
    }

    /// Whether the format is chosen by `Accept`.
    package var isNegotiated: Bool {
        if case .negotiated = request.format { true } else { false }
    }
}
