package enum Gamut: String, Sendable, Hashable, CaseIterable {
    case srgb
    case p3
    /// Display P3 if more than a thousandth of the visible pixels lie outside sRGB, otherwise sRGB.
    case auto
}

extension Gamut {
    /// Gray has no colors, and sRGB sources need no wider gamut.
    ///
    /// - Parameter changesColors: Some step does, which requires sRGB.
    func of(_ colors: SourceColors, changesColors: Bool) -> Gamut {
        if colors.space == .gray { return .srgb }
        let isWithin = changesColors || DecodedGamut(of: colors, for: .auto) == .own
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
    /// All colors of a source that lie within sRGB.
    case own
    /// A wider source's colors for a result in sRGB.
    case mapped
    /// A wider source's colors for a result in Display P3.
    case wide

    package init(of colors: SourceColors, for gamut: Gamut) {
        switch colors.space {
        case .srgb where colors.highRange.isOfLight: self = gamut == .srgb ? .own : .wide
        case .srgb, .gray: self = .own
        // These pixels stay as they are, and serve both gamuts.
        case .displayP3 where !colors.highRange.isOfLight: self = .mapped
        case .adobeRGB where !colors.highRange.isOfLight: self = .mapped
        case .displayP3, .adobeRGB, .proPhoto, .rec2020, .cmyk, .other: self = gamut == .srgb ? .mapped : .wide
        }
    }
}
