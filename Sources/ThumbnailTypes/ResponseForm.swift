package import Recipes
package import Text

package struct ResponseForm: Hashable, Sendable {
    /// The name without an extension; nil for the source's name.
    package var fileName: ExactText?
    package var isAttachment = false
    /// The lifetime in seconds, regardless of the source; nil for the source's own lifetime.
    package var maximumAge: Int?
    /// The field's value if the source allows shared caches to store the response; nil for Alula's own value.
    package var cacheControl: ExactText?
    /// The seconds for which shared caches may serve the response stale while they revalidate it; nil for no directive.
    package var staleAge: Int?
    package var includesSize = false
    /// Writes another body, such as facts about the image or a `data:` URL.
    package var writer: ResponseWriter<Thumbnail>?
    package var facts: FactsRequest?
    package var factsWriter: ResponseWriter<SourceFacts>?
    package var fallback: Fallback?

    package init() {}
}

package enum Fallback: Hashable, Sendable {
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

package struct ResponseWriter<Subject: Sendable>: Hashable, Sendable {
    private let recipe: AnyRenderRecipe
    private let write: @Sendable (Subject) -> WrittenResponse?

    /// Creates a writer, which must depend only on the recipe, the source and the subject.
    package init(for recipe: some RenderRecipe, write: @escaping @Sendable (Subject) -> WrittenResponse?) {
        self.recipe = AnyRenderRecipe(recipe)
        self.write = write
    }

    /// Returns nil for only the image, or for facts in Alula's format.
    package func response(about subject: Subject) -> WrittenResponse? { write(subject) }

    package static func == (one: ResponseWriter, other: ResponseWriter) -> Bool { one.recipe == other.recipe }

    package func hash(into hasher: inout Hasher) { hasher.combine(recipe) }
}

package struct WrittenResponse: Sendable {
    package enum Body: Hashable, Sendable {
        case text(String)
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
