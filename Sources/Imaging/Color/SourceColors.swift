package struct SourceColors: Hashable, Sendable {
    package enum Space: String, CaseIterable, Sendable {
        case srgb
        case displayP3 = "display-p3"
        case adobeRGB = "adobe-rgb"
        case proPhoto = "prophoto"
        case rec2020, gray, cmyk, other
    }

    /// How a file stores light that is brighter than white.
    package enum HighRange: String, CaseIterable, Sendable {
        case none, pq, hlg
        /// A second image of how much brighter each part of the first one is.
        case gainMap = "gain-map"

        /// Whether samples represent light brighter than white and need tone mapping.
        package var isOfLight: Bool { self == .pq || self == .hlg }
    }

    package var space: Space
    package var highRange = HighRange.none
    /// The encoding that overrides the ICC profile; nil if the profile applies, or sRGB without one.
    package var encoding: ColorEncoding?

    package init(_ space: Space = .srgb) { self.space = space }

    init(_ encoding: ColorEncoding) {
        self.encoding = encoding
        switch encoding.transfer {
        case .pq: (space, highRange) = (Space(primaries: encoding.places.connectionPrimaries) ?? .other, .pq)
        case .hlg: (space, highRange) = (Space(primaries: encoding.places.connectionPrimaries) ?? .other, .hlg)
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
        // An 8-bit table cannot represent light brighter than white; code points can.
        guard profile.space == .color, let points = profile.codePoints,
            let coded = SourceColors(primaries: points.primaries, transfer: points.transfer), coded.highRange != .none
        else { return }
        self = coded
    }
}

extension SourceColors.Space {
    /// The spaces of three primaries, with the powers or curves used in files.
    private static let known: [(space: Self, places: Chromaticities, curves: [ColorEncoding.Transfer])] = [
        (.srgb, .srgb, [.srgb]), (.displayP3, .displayP3, [.srgb]), (.adobeRGB, .adobeRGB, [.power(219_922)]),
        (.proPhoto, .proPhoto, [.power(180_000)]),
        (.rec2020, .rec2020, [.srgb, .power(240_000), .power(220_000), .power(200_000)]),
    ]

    fileprivate init?(primaries: [[Double]]) {
        guard let known = Self.known.first(where: { $0.places.connectionPrimaries.isClose(to: primaries) }) else {
            return nil
        }
        self = known.space
    }

    fileprivate init(of profile: ColorProfile) {
        if profile.isStandard {
            self = .srgb
            return
        }
        let primaries = profile.primaries.map { $0.map { Double($0) / 65_536 } }
        let known = Self.known.first { known in
            known.places.connectionPrimaries.isClose(to: primaries)
                && known.curves.contains { curve in profile.curves.allSatisfy { $0.isClose(to: curve) } }
        }
        self = known?.space ?? .other
    }
}

extension [[Double]] {
    fileprivate func isClose(to other: [[Double]]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) < 0.003 } }
    }
}

extension SourceColors {
    package var numbers: [Int] {
        let names = [Space.allCases.firstIndex(of: space) ?? 0, HighRange.allCases.firstIndex(of: highRange) ?? 0]
        guard let encoding else { return names }
        return names + [encoding.transfer.number, encoding.peak] + encoding.places.numbers
    }

    package static let maximumNumbers = 12

    package init?(numbers: [Int]) {
        guard [2, Self.maximumNumbers].contains(numbers.count), Space.allCases.indices ~= numbers[0],
            HighRange.allCases.indices ~= numbers[1]
        else { return nil }
        (space, highRange) = (Space.allCases[numbers[0]], HighRange.allCases[numbers[1]])
        guard numbers.count > 2 else { return }
        guard let transfer = ColorEncoding.Transfer(number: numbers[2]), 0...10_000 ~= numbers[3],
            let places = Chromaticities(Array(numbers[4...]))
        else { return nil }
        encoding = ColorEncoding(places, transfer, peak: numbers[3])
    }
}

extension ColorEncoding.Transfer {
    /// The code point of H.273, or a power.
    fileprivate var number: Int {
        switch self {
        case .srgb: 13
        case .pq: 16
        case .hlg: 18
        case .power(let power): power
        }
    }

    fileprivate init?(number: Int) {
        switch number {
        case 13: self = .srgb
        case 16: self = .pq
        case 18: self = .hlg
        case Self.powers: self = .power(number)
        default: return nil
        }
    }

    /// The powers that a header may declare.
    static let powers = 10_000...1_000_000
}
