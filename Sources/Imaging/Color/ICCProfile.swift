import Memory
import Text

struct ICCProfile {
    /// The curves and primaries; nil if the profile has more than these.
    let colors: ColorProfile?
    let space: Space?
    /// The rendering intent; the profile has data for it.
    let intent: Intent
    /// The `cicp` tag (ICC.1:2022 section 9.2.17).
    let codePoints: (primaries: Int, transfer: Int)?

    enum Space: Hashable {
        case gray, color, cmyk
    }

    /// Rendering intents (ICC.1:2010 section 6.2).
    enum Intent: Hashable {
        case perceptual, relative, saturation
    }

    /// Maximum bytes of a profile; longer ones are ignored.
    static let maximumLength = 4 << 20

    init(_ bytes: RawSpan) {
        let tags = bytes.byteCount >= 132 ? ICCProfile.tags(in: bytes) : [:]
        colors = ICCProfile.colors(in: bytes, tags: tags)
        space = ICCProfile.space(in: bytes)
        intent = ICCProfile.intent(tags)
        codePoints = tags["cicp"].flatMap { offset in
            guard bytes.text(at: offset) == "cicp", let primaries = try? bytes.byte(at: offset + 8),
                let transfer = try? bytes.byte(at: offset + 9)
            else { return nil }
            return (primaries, transfer)
        }
    }

    var isSRGB: Bool { colors?.isSRGB ?? false }

    private static func space(in bytes: RawSpan) -> Space? {
        guard let kind = bytes.text(at: 12), ["scnr", "mntr", "prtr", "spac"].contains(kind) else { return nil }
        return switch bytes.text(at: 16) {
        case "GRAY": .gray
        case "RGB ": .color
        case "CMYK": .cmyk
        default: nil
        }
    }

    /// Relative if the profile has curves or a table for it; otherwise the intent of its table.
    private static func intent(_ tags: [ExactText: Int]) -> Intent {
        let hasCurves = tags["kTRC"] != nil || tags["rXYZ"] != nil && tags["rTRC"] != nil
        if tags["A2B1"] != nil || hasCurves { return .relative }
        return tags["A2B0"] != nil ? .perceptual : tags["A2B2"] != nil ? .saturation : .relative
    }

    private static func colors(in bytes: RawSpan, tags: [ExactText: Int]) -> ColorProfile? {
        // A table takes precedence over curves and primaries; only Little CMS supports it.
        guard tags["A2B0"] == nil, tags["A2B1"] == nil, let version = try? bytes.byte(at: 8) else { return nil }
        func curves(_ names: [String]) -> [ColorProfile.Curve]? {
            let curves = names.compactMap { tags[ExactText($0)].flatMap { bytes.curve(at: $0) } }
            return curves.count == names.count ? curves : nil
        }
        let connection = bytes.text(at: 20)
        switch bytes.text(at: 16) {
        case "RGB " where connection == "XYZ ":
            let primaries = ["rXYZ", "gXYZ", "bXYZ"].compactMap { tags[ExactText($0)].flatMap { bytes.xyz(at: $0) } }
            guard primaries.count == 3, let curves = curves(["rTRC", "gTRC", "bTRC"]) else { return nil }
            return ColorProfile(
                majorVersion: UInt8(version), connectsByLab: false, primaries: primaries, curves: curves)
        case "GRAY" where connection == "XYZ " || connection == "Lab ":
            guard let curves = curves(["kTRC"]) else { return nil }
            return ColorProfile(
                majorVersion: UInt8(version), connectsByLab: connection == "Lab ", primaries: [], curves: curves)
        default: return nil
        }
    }

    /// Removes floating-point chains (`D2B0` etc.), which Little CMS would prefer; nil if there are none.
    ///
    /// A chain takes unbounded time, and no browser uses them: each profile also has a table or curves.
    static func withoutChains(_ bytes: RawSpan) -> SharedBytes? {
        let chains = entries(in: bytes).filter { bytes.text(at: $0)?.hasPrefix("D2B") ?? false }
        guard !chains.isEmpty else { return nil }
        var copy = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
        for entry in chains { copy[entry] = UInt8(ascii: "-") }
        return SharedBytes(copy)
    }

    /// Returns the offsets of the tags; Little CMS reads at most 100.
    private static func entries(in bytes: RawSpan) -> [Int] {
        guard let count = try? bytes.bigEndian32(at: 128), count <= 100 else { return [] }
        return (0..<count).map { 132 + 12 * $0 }
    }

    private static func tags(in bytes: RawSpan) -> [ExactText: Int] {
        var tags: [ExactText: Int] = [:]
        for entry in entries(in: bytes) {
            guard let name = bytes.text(at: entry), let offset = try? bytes.bigEndian32(at: entry + 4) else {
                return [:]
            }
            tags[ExactText(name)] = offset
        }
        return tags
    }
}

extension RawSpan {
    fileprivate func fixedPoint(at offset: Int) -> Int32? {
        (try? bigEndian32(at: offset)).map { Int32(truncatingIfNeeded: $0) }
    }

    fileprivate func text(at offset: Int) -> String? {
        (try? bigEndian32(at: offset)).map { String(decoding: $0.bigEndianBytes(4), as: UTF8.self) }
    }

    fileprivate func xyz(at offset: Int) -> [Int32]? {
        guard text(at: offset) == "XYZ " else { return nil }
        let values = (0..<3).compactMap { fixedPoint(at: offset + 8 + 4 * $0) }
        return values.count == 3 ? values : nil
    }

    fileprivate func curve(at offset: Int) -> ColorProfile.Curve? {
        switch text(at: offset) {
        case "curv":
            guard let count = try? bigEndian32(at: offset + 8), count <= ColorProfile.Curve.longestTable else {
                return nil
            }
            let values = (0..<count).compactMap { (try? bigEndian16(at: offset + 12 + 2 * $0)).map(UInt16.init) }
            return values.count == count ? .table(values) : nil
        case "para":
            guard let kind = try? bigEndian16(at: offset + 8), kind < ColorProfile.Curve.parameterCounts.count else {
                return nil
            }
            let count = ColorProfile.Curve.parameterCounts[kind]
            let parameters = (0..<count).compactMap { fixedPoint(at: offset + 12 + 4 * $0) }
            return parameters.count == count ? .formula(kind, parameters) : nil
        default: return nil
        }
    }
}
