import Crypto
package import HTTPTypes
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
    /// Below the general limit, which nil stands for.
    package var maximumSourceBytes: Int?
    package var defaultQualityLimit: Int?
    package var tags: [ExactText] = []
    package var placeholder: Placeholder?
    /// Unix seconds; nil if the target never expires.
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

    /// Nil for other rules than Alula's own.
    package var ownOptions: RenderingOptions? { recipe.recipe.ownOptions }

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

package struct Placeholder: Hashable, Sendable {
    package let color: Color
    package let size: PixelSize
    package let format: FormatChoice

    package init(_ color: Color, size: PixelSize, format: FormatChoice) {
        (self.color, self.size, self.format) = (color, size, format)
    }

    /// A missing side equals the other one; the box is 1×1 without either.
    package init(_ color: Color, in options: RenderingOptions) {
        self.color = color
        format = options.format
        guard let side = options.width ?? options.height else {
            size = PixelSize(width: 1, height: 1)
            return
        }
        // CSS pixels times the device pixel ratio, rounded half up, at least 1.
        func devicePixels(_ side: Int) -> Int { max(1, (side * options.devicePixelRatio + 500) / 1_000) }
        size = PixelSize(width: devicePixels(options.width ?? side), height: devicePixels(options.height ?? side))
    }
}

package struct HintFields: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let secWidth = HintFields(rawValue: 1)
    package static let width = HintFields(rawValue: 2)
    package static let secRatio = HintFields(rawValue: 4)
    package static let ratio = HintFields(rawValue: 8)
    package static let saveData = HintFields(rawValue: 16)
    package static let widths: HintFields = [.secWidth, .width]
    package static let ratios: HintFields = [.secRatio, .ratio]
    package static let all: HintFields = [.widths, .ratios, .saveData]

    private static let named: [(HintFields, HTTPField.Name)] = [
        (.secWidth, .secCHWidth), (.width, .width), (.secRatio, .secCHDPR), (.ratio, .dpr), (.saveData, .saveData),
    ]

    package var name: HTTPField.Name? { Self.named.first { $0.0 == self }?.1 }

    package var names: [String] { Self.named.filter { contains($0.0) }.map(\.1.rawName) }
}

package struct AdditionalSource: Hashable, Sendable {
    package enum Role: String, Hashable, Sendable {
        case watermark
    }

    package var role: Role
    /// As named by the client, like ``Request/source``.
    package var source: ExactText

    /// If the request contains the file; nothing is fetched then.
    package var file: ExactText?

    package init(_ role: Role, source: ExactText) {
        self.role = role
        self.source = source
    }

    /// The file must depend on the request alone.
    package init(_ role: Role, file: ExactText) {
        self.init(role, source: "")
        self.file = file
    }

    package var fileName: String? {
        file.map { text in
            let bytes = Array(text.utf8)
            return unsafe SHA256.hash(bytes.span.bytes).hexadecimal
        }
    }
}
