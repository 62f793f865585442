import Memory
import Recipes

extension SourceColors {
    init(_ encoding: ColorEncoding) {
        self.init()
        self.encoding = encoding
        switch encoding.transfer {
        case .pq, .hlg:
            space = Space(primaries: encoding.chromaticities.connectionPrimaries) ?? .other
            hdrFormat = encoding.transfer == .pq ? .pq : .hlg
        case .srgb, .power: space = encoding.profile.map(Space.init(of:)) ?? .other
        }
    }

    init?(primaries: Int, transfer: Int) {
        guard let encoding = ColorEncoding(primaries: primaries, transfer: transfer) else { return nil }
        self.init(encoding)
    }

    init?(profile bytes: RawSpan) {
        let profile = ICCProfile(bytes)
        switch profile.space {
        case nil: return nil
        case .gray: self.init(.gray)
        case .cmyk: self.init(.cmyk)
        case .color: self.init(profile.colors.map(Space.init(of:)) ?? .other)
        }
        // Unlike code points, an 8-bit table cannot represent light above white.
        guard profile.space == .color, let points = profile.codePoints,
            let coded = SourceColors(primaries: points.primaries, transfer: points.transfer), coded.hdrFormat != .none
        else { return }
        self = coded
    }
}

extension SourceColors.Space {
    /// Known primaries with the exponents or curves used in files.
    private static let profiles: [(space: Self, chromaticities: Chromaticities, curves: [ColorEncoding.Transfer])] = [
        (.srgb, .srgb, [.srgb]), (.displayP3, .displayP3, [.srgb]), (.adobeRGB, .adobeRGB, [.power(219_922)]),
        (.proPhoto, .proPhoto, [.power(180_000)]),
        (.rec2020, .rec2020, [.srgb, .power(240_000), .power(220_000), .power(200_000)]),
    ]

    fileprivate init?(primaries: [[Double]]) {
        guard
            let profiles = Self.profiles.first(where: { $0.chromaticities.connectionPrimaries.isClose(to: primaries) })
        else {
            return nil
        }
        self = profiles.space
    }

    fileprivate init(of profile: ColorProfile) {
        if profile.isSRGB {
            self = .srgb
            return
        }
        let primaries = profile.primaries.map { $0.map { Double($0) / 65_536 } }
        let profiles = Self.profiles.first { profiles in
            profiles.chromaticities.connectionPrimaries.isClose(to: primaries)
                && profiles.curves.contains { curve in profile.curves.allSatisfy { $0.isClose(to: curve) } }
        }
        self = profiles?.space ?? .other
    }
}

extension [[Double]] {
    fileprivate func isClose(to other: [[Double]]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) < 0.003 } }
    }
}

extension ImageHeader {
    /// Adds the declared colors if they fit the pixels; gray uses only their curve.
    func with(_ declared: SourceColors?) -> ImageHeader {
        var header = self
        if bands < 3, let encoding = declared?.encoding, encoding.grayProfile != nil {
            header.colors.encoding = encoding
        } else if let declared, (declared.space == .gray) == (bands < 3),
            (declared.space == .cmyk) == (colors.space == .cmyk)
        {
            header.colors = declared
        }
        return header
    }
}
