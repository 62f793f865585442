import Glibc
import Recipes

extension GainMapMetadata {
    static let space = "http://ns.adobe.com/hdr-gain-map/1.0/"
    /// The identifier of a JPEG segment with ISO 21496-1 metadata.
    static let segment = "urn:iso:std:iso:ts:21496:-1\0"

    /// Reads metadata by Adobe's specification; nil if they are invalid.
    ///
    /// Rejects maps whose base image is the HDR image.
    init?(_ packet: XMPPacket) {
        func number(_ name: String) -> [Fraction]? {
            let values = packet.values(name, of: Self.space)
            guard values.count <= 3 else { return nil }
            let numbers = values.compactMap(Fraction.init(decimal:))
            return numbers.count == values.count ? numbers : nil
        }
        let isBaseBright = packet.values("BaseRenditionIsHDR", of: Self.space).first
        guard isBaseBright.map({ $0.elementsEqual("False".utf8) }) ?? true, let minimum = number("GainMapMin"),
            let maximum = number("GainMapMax"), let gamma = number("Gamma"), let base = number("OffsetSDR"),
            let alternate = number("OffsetHDR"), let low = number("HDRCapacityMin"),
            let high = number("HDRCapacityMax")?.first
        else { return nil }
        let count = [minimum, maximum, gamma, base, alternate].contains { $0.count > 1 } ? 3 : 1
        var fractions = [low.first ?? Fraction(0), high]
        for index in 0..<count {
            // A single value applies to all components.
            func value(_ values: [Fraction], _ defaultValue: Fraction?) -> Fraction? {
                values.isEmpty
                    ? defaultValue
                    : values.count == 1 ? values[0] : values.indices.contains(index) ? values[index] : nil
            }
            let offset = Fraction(1, 64)
            let values = [
                value(minimum, Fraction(0)), value(maximum, nil), value(gamma, Fraction(1)), value(base, offset),
                value(alternate, offset),
            ].compactMap(\.self)
            fractions += values
        }
        self.init(fractions: fractions, usesBaseColors: true)
    }

    /// Returns nil if the metadata are invalid or need a later version of the standard, or if the base image is HDR.
    init?(_ bytes: RawSpan, iso range: Range<Int>) {
        guard range.count >= 5, (try? bytes.bigEndian16(at: range.lowerBound)) == 0,
            let flags = try? bytes.byte(at: range.lowerBound + 4), flags & Self.isBackward == 0
        else { return nil }
        let count = flags & Self.hasThreeChannels == 0 ? 7 : 17
        let sharesDenominator = flags & Self.hasOneDenominator != 0
        let start = range.lowerBound + 5
        guard range.upperBound - start >= (sharesDenominator ? count + 1 : 2 * count) * 4 else { return nil }
        var fractions: [Fraction] = []
        for index in 0..<count {
            let offset = start + (sharesDenominator ? 4 + 4 * index : 8 * index)
            guard let bits = try? bytes.bigEndian32(at: offset),
                let denominator = try? bytes.bigEndian32(at: sharesDenominator ? start : offset + 4)
            else { return nil }
            // Headrooms and gammas are unsigned.
            let isSigned = index >= 2 && (index - 2) % 5 != 2
            fractions.append(Fraction(isSigned ? Int(Int32(truncatingIfNeeded: bits)) : bits, denominator))
        }
        self.init(fractions: fractions, usesBaseColors: flags & Self.hasBaseColors != 0)
    }

    static let hasThreeChannels = 0x80
    static let hasBaseColors = 0x40
    static let hasOneDenominator = 8
    static let isBackward = 4
}

extension GainMapMetadata.Fraction {
    /// Reads up to nine digits and an exponent; nil for numbers that are too large.
    init?(decimal text: [UInt8]) {
        guard text.count <= 64, text.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }),
            let value = Double(String(decoding: text, as: UTF8.self)), abs(value) < 2_000_000_000
        else { return nil }
        var denominator = 1
        // Most numbers in files have few digits.
        while denominator < 1_000_000_000, abs(value) * Double(denominator * 10) < 2_000_000_000,
            (value * Double(denominator)).rounded() != value * Double(denominator)
        {
            denominator *= 10
        }
        var numerator = Int((value * Double(denominator)).rounded())
        var rest = denominator
        var one = abs(numerator)
        var other = denominator
        while other != 0 { (one, other) = (other, one % other) }
        if one > 1 {
            numerator = numerator / one
            rest = rest / one
        }
        self.init(numerator, rest)
    }
}
