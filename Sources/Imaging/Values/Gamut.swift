/// The colors that an answer can show.
package enum Gamut: String, Sendable, Hashable, CaseIterable {
    /// Those of sRGB.
    case srgb
    /// Those of Display P3.
    case p3
    /// Those of Display P3 if more than a thousandth of the shown pixels lie outside of sRGB, else those of sRGB.
    case auto
}

extension Gamut {
    /// The gamut that counts for a source with these colors: gray has none, and sRGB's colors fill no wider one.
    ///
    /// - Parameter changesColors: Whether a step changes colors, which then are sRGB's.
    func of(_ colors: SourceColors, changesColors: Bool) -> Gamut {
        if colors.space == .gray { return .srgb }
        let isWithin = changesColors || DecodedGamut(of: colors, for: .auto) == .own
        return self == .auto && isWithin ? .srgb : self
    }

    /// The colors of the file, in words.
    var words: String {
        switch self {
        case .srgb: ""
        case .p3: " in Display P3"
        case .auto: " in Display P3 if colors outside of sRGB are shown"
        }
    }
}

/// The colors that a decode keeps.
package enum DecodedGamut: String, Sendable, Hashable, CaseIterable {
    /// All that the source has, which lie within sRGB.
    case own
    /// Those of a wider source that a result in sRGB needs.
    case mapped
    /// Those of a wider source that a result in Display P3 needs.
    case wide

    /// The decode of a source for a result.
    package init(of colors: SourceColors, for gamut: Gamut) {
        switch colors.space {
        case .srgb where colors.highRange.isOfLight: self = gamut == .srgb ? .own : .wide
        case .srgb, .gray: self = .own
        // Their pixels are kept as they are, and serve both.
        case .displayP3 where !colors.highRange.isOfLight: self = .mapped
        case .adobeRGB where !colors.highRange.isOfLight: self = .mapped
        case .displayP3, .adobeRGB, .proPhoto, .rec2020, .cmyk, .other: self = gamut == .srgb ? .mapped : .wide
        }
    }
}
