package import HTTPTypes
package import Imaging
package import Text
package import ThumbnailTypes

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
    /// The parts that the target says itself, not a preset.
    package var choices = ClientChoices.all
    /// The fields with hints that the answer depends on.
    package var hintFields: HintFields = []
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

    /// The value of `Vary` in its answers; nil for none.
    package var vary: String? {
        let names = (isNegotiated ? ["Accept"] : []) + hintFields.names
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }
}

/// How the answer to a target differs from the image by itself, in a dialect that lets clients choose.
package struct AnswerForm: Hashable, Sendable {
    /// The name under which the answer would be saved, without its extension; nil for that of the source.
    package var fileName: ExactText?
    /// Whether browsers are told to save the answer and not to show it.
    package var isAttachment = false
    /// Seconds for which clients may use the answer, whatever the source says; nil for the source's own lifetime.
    package var maximumAge: Int?
    /// The value of `Cache-Control` if the source lets shared caches keep the answer; nil for Alula's own.
    package var cacheControl: ExactText?
    /// Seconds for which shared caches may use the answer longer while they fetch it anew; nil says nothing.
    package var staleAge: Int?
    /// Whether the answer tells its width and height in fields.
    package var tellsSize = false
    /// Writes the answer in place of the image by itself, such as facts about the image or a `data:` URL.
    package var writer: AnswerWriter<Thumbnail>?
    /// The facts about the source that are asked for in place of an image; nil for an image.
    package var facts: FactsRequest?
    /// Writes these facts in a dialect's own way.
    package var factsWriter: AnswerWriter<SourceFacts>?
    /// Where a client is sent if the request fails; nil for the failure itself.
    package var fallback: Fallback?

    /// The image by itself.
    package init() {}
}

/// An image that answers failures of all kinds, in a dialect whose operators want it.
package struct StandIn: Sendable {
    /// How the image is made.
    package enum Subject: Sendable {
        case plain(Placeholder)
        case image(ThumbnailRequest)
    }

    /// The image in place of the one that failed.
    package let subject: Subject
    /// The status of the answer; nil for that of the failure.
    package let status: HTTPResponse.Status?

    /// An image with a status.
    package init(_ subject: Subject, status: HTTPResponse.Status? = nil) {
        (self.subject, self.status) = (subject, status)
    }
}

/// Where a client is sent if a request fails.
package enum Fallback: Hashable, Sendable {
    /// An absolute URL of the operator's.
    case configured(ExactText)
    /// An absolute URL that the target names.
    ///
    /// No stranger's URL becomes a redirect to a stranger's page: unless the operator has allowed the host by its name,
    /// the client is sent to a target of this service that asks for the image at that URL, if there is one.
    case named(ExactText, asTarget: ExactText?)

    /// The absolute URL.
    package var url: ExactText {
        switch self {
        case .configured(let url), .named(let url, _): url
        }
    }
}

/// Writes the answers about thumbnails, or facts, of one recipe.
package struct AnswerWriter<Subject: Sendable>: Hashable, Sendable {
    private let recipe: AnyRenderRecipe
    private let write: @Sendable (Subject) -> WrittenAnswer?

    /// A writer that decides by the recipe, the source and the subject alone.
    package init(for recipe: some RenderRecipe, write: @escaping @Sendable (Subject) -> WrittenAnswer?) {
        self.recipe = AnyRenderRecipe(recipe)
        self.write = write
    }

    /// The answer about a subject; nil stands for the image by itself, or for facts as Alula writes them.
    package func answer(about subject: Subject) -> WrittenAnswer? { write(subject) }

    package static func == (one: AnswerWriter, other: AnswerWriter) -> Bool { one.recipe == other.recipe }

    package func hash(into hasher: inout Hasher) { hasher.combine(recipe) }
}

/// An answer that a dialect writes itself.
package struct WrittenAnswer: Sendable {
    /// The content of the answer.
    package enum Body: Hashable, Sendable {
        /// A short text, such as facts.
        case text(String)
        /// The bytes of the thumbnail, which were made as a text.
        case thumbnail
    }

    /// The value of `Content-Type`.
    package let mediaType: String
    package let body: Body

    /// The text of the body; nil for a thumbnail's.
    package var text: String? { if case .text(let text) = body { text } else { nil } }

    /// An answer with this body.
    package init(mediaType: String, body: Body) {
        self.mediaType = mediaType
        self.body = body
    }
}
