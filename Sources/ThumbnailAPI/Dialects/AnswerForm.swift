package import Text
package import ThumbnailPipeline

/// How the answer to a target differs from the image by itself, in a dialect that lets clients choose.
package struct AnswerForm: Hashable, Sendable {
    /// The name under which the answer would be saved, without its extension; nil for that of the source.
    package var fileName: ExactText?
    /// Whether browsers are told to save the answer and not to show it.
    package var isAttachment = false
    /// Seconds for which clients may use the answer, whatever the source says; nil for what the source says.
    package var maximumAge: Int?
    /// Seconds for which shared caches may use the answer longer while they fetch it anew; nil says nothing.
    package var staleAge: Int?
    /// Whether the dialect writes the answer itself, such as facts about the image or a `data:` URL.
    package var isWritten = false
    /// The facts about the source that are asked for in place of an image; nil for an image.
    package var facts: FactsRequest?
    /// The absolute URL that a client is sent to if the request fails; nil for the failure itself.
    package var fallback: ExactText?

    /// The image by itself.
    package init() {}
}

/// An answer that a dialect writes itself.
package struct WrittenAnswer: Sendable {
    /// The value of `Content-Type`.
    package let mediaType: String
    /// The body.
    package let text: String

    /// An answer with this body.
    package init(mediaType: String, text: String) {
        self.mediaType = mediaType
        self.text = text
    }
}
