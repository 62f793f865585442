import Crypto
import HTTPTypes
package import Recipes
package import Text

/// Sources, recipe, allowed output formats, and the form of the response.
///
/// Sources are texts here, because the grammars that parse requests know no origins. The pipeline resolves them to
/// identities, once.
package struct Request: Hashable, Sendable {
    package var source: ExactText
    package var additional: [AdditionalSource]
    package var recipe: AnyRenderRecipe
    package var isNegotiated: Bool
    package var limits = RequestLimits()
    package var defaultQualityLimit: Int?
    package var tags: [ExactText] = []
    package var placeholder: Placeholder?
    /// The time in Unix seconds; nil if the target never expires.
    package var expires: Int?
    package var form = ResponseForm()
    /// The parts that the target itself specifies, rather than a preset.
    package var choices = ClientChoices.all
    package var hintFields: HintFields = []
    /// Parsed options without an effect here, such as `strip_metadata:0`.
    package var ignoredOptions: [String] = []

    package init(
        source: ExactText, additional: [AdditionalSource] = [], recipe: some RenderRecipe, isNegotiated: Bool,
        expires: Int? = nil
    ) {
        self.source = source
        self.additional = additional
        self.recipe = AnyRenderRecipe(recipe)
        self.isNegotiated = isNegotiated
        self.expires = expires
    }

    package init(
        source: ExactText, additional: [AdditionalSource] = [], options: RenderingOptions = RenderingOptions(),
        expires: Int? = nil
    ) {
        self.init(
            source: source, additional: additional, recipe: options, isNegotiated: !options.format.isFixed,
            expires: expires)
    }

    /// The options for Alula's own rules; nil for other rules.
    package var nativeOptions: RenderingOptions? { recipe.recipe.nativeOptions }

    package var vary: String? {
        let names = (isNegotiated ? ["Accept"] : []) + hintFields.names
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// Whether responses to both requests with the same image have the same fields.
    package func hasSameResponse(as other: Request) -> Bool {
        source == other.source && form == other.form && isNegotiated == other.isNegotiated
            && hintFields == other.hintFields && tags == other.tags
    }
}

/// Limits below the general ones; nil means that the general one applies.
package struct RequestLimits: Hashable, Sendable {
    package var maximumSourceBytes: Int?
    package var maximumSourcePixels: Int?
    package var maximumOutputPixels: Int?

    package init() {}

    /// Returns the lower limit of each kind.
    package func within(_ other: RequestLimits) -> RequestLimits {
        func smaller(_ limit: (RequestLimits) -> Int?) -> Int? { [limit(self), limit(other)].compactMap(\.self).min() }
        var limits = RequestLimits()
        limits.maximumSourceBytes = smaller(\.maximumSourceBytes)
        limits.maximumSourcePixels = smaller(\.maximumSourcePixels)
        limits.maximumOutputPixels = smaller(\.maximumOutputPixels)
        return limits
    }
}

/// Parts of a target that the client chooses; those in a preset are the operator's choice.
package struct ClientChoices: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let width = ClientChoices(rawValue: 1)
    package static let height = ClientChoices(rawValue: 2)
    package static let quality = ClientChoices(rawValue: 4)
    /// The qualities of single formats, in a dialect that has them.
    package static let formatQualities = ClientChoices(rawValue: 8)
    package static let untouchedFormats = ClientChoices(rawValue: 16)
    package static let tags = ClientChoices(rawValue: 32)
    package static let all = ClientChoices(rawValue: 63)
}
