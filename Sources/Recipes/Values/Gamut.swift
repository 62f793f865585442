package enum Gamut: String, Sendable, Hashable, CaseIterable {
    case srgb
    case p3
    /// Display P3 if more than a thousandth of the visible pixels are outside sRGB, otherwise sRGB.
    case auto
}

extension Gamut {
    /// Returns the gamut to use: sRGB for gray and sRGB sources.
    ///
    /// - Parameter changesColors: Whether a step changes colors, which requires sRGB.
    func resolved(for colors: SourceColors, changesColors: Bool) -> Gamut {
        if colors.space == .gray { return .srgb }
        let isWithin = changesColors || DecodedGamut(of: colors, for: .auto) == .withinSRGB
        return self == .auto && isWithin ? .srgb : self
    }

    var summary: String {
        switch self {
        case .srgb: ""
        case .p3: " in Display P3"
        case .auto: " in Display P3 if colors outside of sRGB are shown"
        }
    }
}

package enum DecodedGamut: String, Sendable, Hashable, CaseIterable {
    /// The colors of a source within sRGB.
    case withinSRGB
    /// The colors of a wider source, mapped to sRGB.
    case mapped
    /// The colors of a wider source, converted to Display P3.
    case displayP3 = "wide"

    package init(of colors: SourceColors, for gamut: Gamut) {
        switch colors.space {
        case .srgb where colors.hdrFormat.needsToneMapping: self = gamut == .srgb ? .withinSRGB : .displayP3
        case .srgb, .gray: self = .withinSRGB
        // These pixels are not converted and serve both gamuts.
        case .displayP3 where !colors.hdrFormat.needsToneMapping: self = .mapped
        case .adobeRGB where !colors.hdrFormat.needsToneMapping: self = .mapped
        case .displayP3, .adobeRGB, .proPhoto, .rec2020, .cmyk, .other: self = gamut == .srgb ? .mapped : .displayP3
        }
    }
}
