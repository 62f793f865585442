/// A smaller image that states how much brighter each part is shown on an HDR display.
package final class GainMap: Sendable {
    package enum Location: Hashable, Sendable {
        case file(Range<Int>)
        case item(Int)

        package var numbers: [Int] {
            switch self {
            case .file(let range): [range.lowerBound, range.upperBound]
            case .item(let item): [item]
            }
        }

        package init?(numbers: [Int]) {
            switch numbers.count {
            case 1: self = .item(numbers[0])
            case 2 where numbers[0] >= 0 && numbers[0] <= numbers[1]: self = .file(numbers[0]..<numbers[1])
            default: return nil
            }
        }
    }

    package enum Samples: Int, Sendable {
        /// Samples are logarithms of gains, scaled to the metadata's range.
        case logarithms
        /// Samples are linear gains, as in files of Apple's cameras.
        case amounts
    }

    package let location: Location
    /// The header of the map as an image file, with the image's orientation.
    package let header: ImageHeader
    package let metadata: GainMapMetadata
    package let samples: Samples

    package init(_ location: Location, header: ImageHeader, metadata: GainMapMetadata, samples: Samples = .logarithms) {
        self.location = location
        self.header = header
        self.metadata = metadata
        self.samples = samples
    }

    var byteCount: Int {
        header.byteCount + 256 + metadata.channels.count * MemoryLayout<GainMapMetadata.Channel>.stride
    }

    var isPlausible: Bool {
        header.isPlausible && header.gainMap == nil && header.frames == 1
            && ([1, 3].contains(header.bands) && header.vectorSize == nil)
    }
}

extension GainMap: Hashable {
    package static func == (one: GainMap, other: GainMap) -> Bool {
        one === other
            || one.location == other.location && one.header == other.header && one.metadata == other.metadata
                && one.samples == other.samples
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(location)
        hasher.combine(metadata)
    }
}

/// Metadata of ISO 21496-1 and Adobe's gain map specification 1.0.
///
/// A sample (0…1) to the power of 1/gamma interpolates between the minimum and the maximum gain, which are base-2
/// logarithms. Fractions are copied between files unchanged.
package struct GainMapMetadata: Hashable, Sendable {
    package struct Fraction: Hashable, Sendable {
        package let numerator: Int
        package let denominator: Int

        package init(_ numerator: Int, _ denominator: Int = 1) {
            self.numerator = numerator
            self.denominator = denominator
        }

        package var value: Double { Double(numerator) / Double(denominator) }
    }

    package struct Channel: Hashable, Sendable {
        package var minimum = Fraction(0)
        package var maximum: Fraction
        package var gamma = Fraction(1)
        /// Added to linear light before the multiplication.
        package var baseOffset = Fraction(1, 64)
        /// Subtracted after the multiplication.
        package var alternateOffset = Fraction(1, 64)

        package init(maximum: Fraction) { self.maximum = maximum }
    }

    /// The headroom (base-2 logarithm) up to which the image is shown unchanged.
    package var baseHeadroom = Fraction(0)
    /// The headroom (base-2 logarithm) from which the map applies in full.
    package var alternateHeadroom: Fraction
    package var channels: [Channel]
    /// Whether gains apply in the color space of the base image or of the HDR image.
    package var usesBaseColors = true

    package init(alternateHeadroom: Fraction, channels: [Channel]) {
        self.alternateHeadroom = alternateHeadroom
        self.channels = channels
    }
}

extension GainMapMetadata {
    package var numbers: [Int] { [usesBaseColors ? 1 : 0] + fractions.flatMap { [$0.numerator, $0.denominator] } }

    /// More stops than any display has; keeps light times headroom finite.
    private static let maximumHeadroom = 64.0

    package static let maximumNumbers = 35

    package init?(numbers: [Int]) {
        guard [15, Self.maximumNumbers].contains(numbers.count), 0...1 ~= numbers[0] else { return nil }
        let fractions = stride(from: 1, to: numbers.count, by: 2).map { Fraction(numbers[$0], numbers[$0 + 1]) }
        self.init(fractions: fractions, usesBaseColors: numbers[0] == 1)
    }

    package var checked: GainMapMetadata? { GainMapMetadata(fractions: fractions, usesBaseColors: usesBaseColors) }

    /// The headrooms, followed by five numbers for each component.
    package var fractions: [Fraction] {
        [baseHeadroom, alternateHeadroom]
            + channels.flatMap { [$0.minimum, $0.maximum, $0.gamma, $0.baseOffset, $0.alternateOffset] }
    }

    package init?(fractions: [Fraction], usesBaseColors: Bool) {
        guard [7, 17].contains(fractions.count), fractions.allSatisfy(\.isPlausible) else { return nil }
        let channels = stride(from: 2, to: fractions.count, by: 5).map { start in
            var channel = Channel(maximum: fractions[start + 1])
            channel.minimum = fractions[start]
            channel.gamma = fractions[start + 2]
            channel.baseOffset = fractions[start + 3]
            channel.alternateOffset = fractions[start + 4]
            return channel
        }
        guard channels.allSatisfy({ $0.gamma.numerator > 0 && $0.minimum.value <= $0.maximum.value }),
            fractions[0].numerator >= 0, fractions[1].value > fractions[0].value,
            fractions[1].value <= Self.maximumHeadroom
        else { return nil }
        self.init(alternateHeadroom: fractions[1], channels: channels)
        baseHeadroom = fractions[0]
        self.usesBaseColors = usesBaseColors
    }
}

extension GainMapMetadata.Fraction {
    fileprivate var isPlausible: Bool {
        Int(Int32.min)...Int(Int32.max) ~= numerator && 1...Int(UInt32.max) ~= denominator
    }
}
