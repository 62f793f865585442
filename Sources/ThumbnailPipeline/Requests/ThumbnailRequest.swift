package import Imaging
package import Text

/// One caller's wish: which sources, what to do with them, and in which format the result may come.
///
/// Sources are texts here, because the grammars that make requests know no origins. ``ThumbnailServing/resolved(_:)`` turns them into
/// identities, once.
package struct ThumbnailRequest: Hashable, Sendable {
    /// The source as the client named it, percent-decoded once: an absolute URL, or `NAME:PATH` of a named origin.
    package var source: ExactText
    /// Sources that steps use besides the image, each for its role.
    package var additional: [AdditionalSource]
    /// Size, crop, quality and the like.
    package var options: RenderingOptions
    /// The output format, or what to choose it by.
    package var format: FormatChoice
    /// Most bytes of the image's file, below the bound of all sources; nil for that bound.
    package var maximumSourceBytes: Int?

    /// A request for `source`.
    package init(
        source: ExactText, additional: [AdditionalSource] = [], options: RenderingOptions = RenderingOptions(),
        format: FormatChoice = .negotiated([:])
    ) {
        self.source = source
        self.additional = additional
        self.options = options
        self.format = format
    }

    /// What each source is used for; nil for the image.
    var roles: PerSource<AdditionalSource.Role?> { PerSource(nil, additional: additional.map(\.role)) }
}

/// How the output format is chosen.
package enum FormatChoice: Hashable, Sendable {
    /// The client named it.
    case fixed(ImageFormat)
    /// `format=auto`: the quality values, in thousandths, of the formats that `Accept` names explicitly (RFC 9110 section 12.5.1).
    case negotiated([ImageFormat: Int])
    /// The recipe of the request's options decides; `isNegotiated` tells whether it heeds `Accept`.
    case byRecipe(isNegotiated: Bool)

    /// Whether `Accept` chooses the format.
    package var isNegotiated: Bool {
        switch self {
        case .fixed: false
        case .negotiated: true
        case .byRecipe(let isNegotiated): isNegotiated
        }
    }

    /// Whether the client named the format.
    package var isFixed: Bool {
        if case .fixed = self { true } else { false }
    }

    /// The format for a source of `own` format.
    ///
    /// - Parameters:
    ///   - own: The source's format.
    ///   - hasAlpha: Whether the source has transparency: a format that is not written is replaced by one that can hold it.
    ///   - automatic: The formats that may be chosen by `Accept`, best first.
    package func format(own: ImageFormat, hasAlpha: Bool, automatic: [ImageFormat]) -> ImageFormat {
        switch self {
        case .fixed(let format): return format
        case .negotiated(let qualities):
            let floor = max(1, qualities[own] ?? 0)
            let chosen = automatic.first { (qualities[$0] ?? 0) >= floor }
            return chosen ?? own.answer(hasAlpha: hasAlpha)
        case .byRecipe: return own.answer(hasAlpha: hasAlpha)
        }
    }
}
