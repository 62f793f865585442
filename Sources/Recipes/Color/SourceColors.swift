package struct SourceColors: Hashable, Sendable {
    package enum Space: String, CaseIterable, Sendable {
        case srgb
        case displayP3 = "display-p3"
        case adobeRGB = "adobe-rgb"
        case proPhoto = "prophoto"
        case rec2020, gray, cmyk, other
    }

    package enum HDRFormat: String, CaseIterable, Sendable {
        case none, pq, hlg
        /// A gain map (ISO 21496-1).
        case gainMap = "gain-map"

        /// Whether the colors need tone mapping.
        package var needsToneMapping: Bool { self == .pq || self == .hlg }
    }

    package var space: Space
    package var hdrFormat = HDRFormat.none
    /// The encoding that overrides the ICC profile; nil uses the profile, or sRGB without one.
    package var encoding: ColorEncoding?

    package init(_ space: Space = .srgb) { self.space = space }

}

extension SourceColors {
    package var numbers: [Int] {
        let indices = [Space.allCases.firstIndex(of: space) ?? 0, HDRFormat.allCases.firstIndex(of: hdrFormat) ?? 0]
        guard let encoding else { return indices }
        return indices + [encoding.transfer.number, encoding.peak] + encoding.chromaticities.numbers
    }

    package static let maximumNumbers = 12

    package init?(numbers: [Int]) {
        guard [2, Self.maximumNumbers].contains(numbers.count), Space.allCases.indices ~= numbers[0],
            HDRFormat.allCases.indices ~= numbers[1]
        else { return nil }
        space = Space.allCases[numbers[0]]
        hdrFormat = HDRFormat.allCases[numbers[1]]
        guard numbers.count > 2 else { return }
        guard let transfer = ColorEncoding.Transfer(number: numbers[2]), 0...10_000 ~= numbers[3],
            let chromaticities = Chromaticities(Array(numbers[4...]))
        else { return nil }
        encoding = ColorEncoding(chromaticities, transfer: transfer, peak: numbers[3])
    }
}

extension ColorEncoding.Transfer {
    /// The H.273 code point or the exponent.
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

    /// The exponents that a header may declare.
    package static let powers = 10_000...1_000_000
}
