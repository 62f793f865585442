package import HTTPTypes
package import Imaging
package import Text
package import ThumbnailTypes

package struct ThumbnailQuery: Hashable, Sendable {
    package var request: ThumbnailRequest
    /// The image to serve if the source fails; nil to respond with the error.
    package var placeholder: Placeholder?
    /// Unix seconds at which the target expires; nil if it never does.
    package var expires: Int?
    /// How the response differs from only the image.
    package var answer = AnswerForm()
    /// The parts that the target itself specifies, rather than a preset.
    package var choices = ClientChoices.all
    /// The client hints that the response depends on.
    package var hintFields: HintFields = []
    /// Parsed options without an effect here, such as `strip_metadata:0`.
    package var ignoredOptions: [String] = []

    package init(request: ThumbnailRequest, placeholder: Placeholder? = nil, expires: Int? = nil) {
        self.request = request
        self.placeholder = placeholder
        self.expires = expires
    }

    package var isNegotiated: Bool { request.isNegotiated }

    package var vary: String? {
        let names = (isNegotiated ? ["Accept"] : []) + hintFields.names
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }
}

/// How the response to a target differs from only the image, in a dialect that lets clients choose.
package struct AnswerForm: Hashable, Sendable {
    /// The file name for saving the response, without its extension; nil for the source's.
    package var fileName: ExactText?
    /// Whether browsers save the response instead of showing it.
    package var isAttachment = false
    /// Freshness in seconds for clients, regardless of the source; nil for the source's own lifetime.
    package var maximumAge: Int?
    /// The value of `Cache-Control` if the source allows shared caches to store the response; nil for Alula's own.
    package var cacheControl: ExactText?
    /// Seconds for which shared caches may serve the response stale while they revalidate it; nil for no directive.
    package var staleAge: Int?
    /// Whether response fields contain the width and height.
    package var tellsSize = false
    /// Writes the response instead of only the image, such as facts about the image or a `data:` URL.
    package var writer: AnswerWriter<Thumbnail>?
    /// The facts about the source that are requested instead of an image; nil for an image.
    package var facts: FactsRequest?
    /// Writes these facts in a dialect's own format.
    package var factsWriter: AnswerWriter<SourceFacts>?
    /// Where to redirect a client if the request fails; nil to respond with the error.
    package var fallback: Fallback?

    package init() {}
}

/// A fallback image for failures of all kinds, in a dialect whose operators enable it.
package struct FallbackImage: Sendable {
    package enum Subject: Sendable {
        case plain(Placeholder)
        case image(ThumbnailRequest)
    }

    package let subject: Subject
    /// The status of the response; nil for the failure's.
    package let status: HTTPResponse.Status?

    package init(_ subject: Subject, status: HTTPResponse.Status? = nil) {
        (self.subject, self.status) = (subject, status)
    }
}

/// Where to redirect a client if a request fails.
package enum Fallback: Hashable, Sendable {
    /// An absolute URL from the operator.
    case configured(ExactText)
    /// An absolute URL in the target.
    ///
    /// An arbitrary URL never becomes a redirect to an arbitrary page: unless the operator has allowed the host by its
    /// name, the client is redirected to a target of this service that requests the image at that URL, if there is one.
    case named(ExactText, asTarget: ExactText?)

    package var url: ExactText {
        switch self {
        case .configured(let url), .named(let url, _): url
        }
    }
}

/// Writes the responses about thumbnails, or facts, of one recipe.
package struct AnswerWriter<Subject: Sendable>: Hashable, Sendable {
    private let recipe: AnyRenderRecipe
    private let write: @Sendable (Subject) -> WrittenAnswer?

    /// Creates a writer that must depend only on the recipe, the source and the subject.
    package init(for recipe: some RenderRecipe, write: @escaping @Sendable (Subject) -> WrittenAnswer?) {
        self.recipe = AnyRenderRecipe(recipe)
        self.write = write
    }

    /// Returns the response about a subject; nil for only the image, or for facts in Alula's format.
    package func answer(about subject: Subject) -> WrittenAnswer? { write(subject) }

    package static func == (one: AnswerWriter, other: AnswerWriter) -> Bool { one.recipe == other.recipe }

    package func hash(into hasher: inout Hasher) { hasher.combine(recipe) }
}

/// A response that a dialect writes itself.
package struct WrittenAnswer: Sendable {
    package enum Body: Hashable, Sendable {
        case text(String)
        /// The bytes of the thumbnail, which were encoded as a text.
        case thumbnail
    }

    package let mediaType: String
    package let body: Body

    package var text: String? { if case .text(let text) = body { text } else { nil } }

    package init(mediaType: String, body: Body) {
        self.mediaType = mediaType
        self.body = body
    }
}
