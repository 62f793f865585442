package import ThumbnailPipeline

/// The meaning of a target, in any dialect.
package struct ThumbnailQuery: Hashable, Sendable {
    /// The request to the pipeline.
    package var request: ThumbnailRequest
    /// The image that answers if the source fails; nil if the failure itself answers.
    package var placeholder: Placeholder?
    /// Unix seconds at which the target expires; nil if it never does.
    package var expires: Int?
    /// How the answer differs from the image by itself.
    package var answer = AnswerForm()
    /// Options of the target that are read and mean nothing here, such as `strip_metadata:0`.
    package var ignoredOptions: [String] = []

    /// A query for `request`.
    package init(request: ThumbnailRequest, placeholder: Placeholder? = nil, expires: Int? = nil) {
        self.request = request
        self.placeholder = placeholder
        self.expires = expires
    }

    /// Whether `Accept` chooses the format.
    package var isNegotiated: Bool { request.isNegotiated }
}
