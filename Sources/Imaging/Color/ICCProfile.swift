import Glibc

/// What an ICC profile says about its colours, as far as needed to see that it is sRGB and needs no conversion.
struct ICCProfile {
    /// Whether the profile describes sRGB, within what 8 bits can show.
    let isStandard: Bool

    /// Longest profile that is looked at, in bytes; a longer one is ignored.
    static let longest = 4 << 20

    /// Reads a profile; a damaged one is not standard, and libvips judges it.
    init(_ bytes: RawSpan) {
        guard bytes.byteCount >= 132, bytes.text(at: 16) == "RGB ", bytes.text(at: 20) == "XYZ " else {
            isStandard = false
            return
        }
        let tags = ICCProfile.tags(in: bytes)
        // A table takes precedence over curves and primaries: such a profile is left to the colour engine.
        let hasTables = tags["A2B0"] != nil || tags["A2B1"] != nil
        isStandard =
            !hasTables
            && ICCProfile.primaries.allSatisfy { tag, expected in
                guard let primary = tags[tag].flatMap({ bytes.xyz(at: $0) }) else { return false }
                return zip(primary, expected).allSatisfy { abs($0 - $1) < 0.003 }
            }
            && ["rTRC", "gTRC", "bTRC"].allSatisfy { tag in
                guard let curve = tags[tag].flatMap({ ToneCurve(bytes, at: $0) }) else { return false }
                return curve.isStandard
            }
    }

    /// The primaries of sRGB adapted to the profile connection space's D50.
    private static let primaries = [
        "rXYZ": [0.4361, 0.2225, 0.0139], "gXYZ": [0.3851, 0.7169, 0.0971], "bXYZ": [0.1431, 0.0606, 0.7139],
    ]

    private static func tags(in bytes: RawSpan) -> [String: Int] {
        guard let count = bytes.integer32(at: 128), count <= 100 else { return [:] }
        var tags: [String: Int] = [:]
        for index in 0..<count {
            let entry = 132 + 12 * index
            guard let name = bytes.text(at: entry), let offset = bytes.integer32(at: entry + 4) else { return [:] }
            tags[name] = offset
        }
        return tags
    }
}

/// The curve from a stored component to light.
private struct ToneCurve {
    /// Whether the curve is sRGB's, within half a step of 8 bits.
    let isStandard: Bool

    init?(_ bytes: RawSpan, at offset: Int) {
        switch bytes.text(at: offset) {
        case "curv":
            // A single entry is a plain gamma, which sRGB is not.
            guard let count = bytes.integer32(at: offset + 8), count > 16, count <= 65_536 else { return nil }
            isStandard = (0...16).allSatisfy { step in
                let index = (count - 1) * step / 16
                guard let value = bytes.integer16(at: offset + 12 + 2 * index) else { return false }
                return ToneCurve.matches(Double(value) / 65_535, at: Double(index) / Double(count - 1))
            }
        case "para":
            guard bytes.integer16(at: offset + 8) == 3 else { return nil }
            let expected = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
            isStandard = expected.enumerated().allSatisfy { index, value in
                guard let parameter = bytes.fixedPoint(at: offset + 12 + 4 * index) else { return false }
                return abs(parameter - value) < 0.001
            }
        default: return nil
        }
    }

    /// Whether `light` is what sRGB has for `component`, both 0…1; the tolerance is half an 8-bit step of the component.
    private static func matches(_ light: Double, at component: Double) -> Bool {
        let half = 0.5 / 255
        return light >= standardLight(component - half) && light <= standardLight(component + half)
    }

    private static func standardLight(_ component: Double) -> Double {
        component <= 0.04045 ? component / 12.92 : pow((component + 0.055) / 1.055, 2.4)
    }
}

extension RawSpan {
    fileprivate func byte(at offset: Int) -> Int? {
        guard offset >= 0, offset < byteCount else { return nil }
        return unsafe Int(unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    }

    fileprivate func integer16(at offset: Int) -> Int? {
        guard let high = byte(at: offset), let low = byte(at: offset + 1) else { return nil }
        return high << 8 | low
    }

    fileprivate func integer32(at offset: Int) -> Int? {
        guard let high = integer16(at: offset), let low = integer16(at: offset + 2) else { return nil }
        return high << 16 | low
    }

    fileprivate func fixedPoint(at offset: Int) -> Double? {
        integer32(at: offset).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
    }

    fileprivate func text(at offset: Int) -> String? {
        guard offset >= 0, offset + 4 <= byteCount else { return nil }
        return String(decoding: (0..<4).compactMap { byte(at: offset + $0).map(UInt8.init) }, as: UTF8.self)
    }

    /// The first triple of an `XYZ ` tag.
    fileprivate func xyz(at offset: Int) -> [Double]? {
        guard text(at: offset) == "XYZ " else { return nil }
        let values = (0..<3).compactMap { fixedPoint(at: offset + 8 + 4 * $0) }
        return values.count == 3 ? values : nil
    }
}
