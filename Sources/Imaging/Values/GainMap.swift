/// The gain map of an image: a smaller image that says how much brighter each part of the image is shown where a
/// display can show more than white.
package final class GainMap: Sendable {
    /// The place of the map in the image's file.
    package enum Place: Hashable, Sendable {
        /// A JPEG file within the file.
        case file(Range<Int>)
        /// An item of a HEIF file.
        case item(Int)

        /// The place as numbers, for records.
        package var numbers: [Int] {
            switch self {
            case .file(let range): [range.lowerBound, range.upperBound]
            case .item(let item): [item]
            }
        }

        /// The place that these numbers stand for; nil for none.
        package init?(numbers: [Int]) {
            switch numbers.count {
            case 1: self = .item(numbers[0])
            case 2 where numbers[0] >= 0 && numbers[0] <= numbers[1]: self = .file(numbers[0]..<numbers[1])
            default: return nil
            }
        }
    }

    /// The meaning of the samples.
    package enum Samples: Int, Sendable {
        /// Logarithms between those of the metadata.
        case logarithms
        /// Amounts, as Apple's cameras write them.
        case amounts
    }

    package let place: Place
    /// The header of the map, as a file of its own, turned like the image.
    package let header: ImageHeader
    package let metadata: GainMapMetadata
    package let samples: Samples

    /// A map at `place` of the file.
    package init(
        _ place: Place, header: ImageHeader, metadata: GainMapMetadata, samples: Samples = .logarithms
    ) {
        (self.place, self.header, self.metadata, self.samples) = (place, header, metadata, samples)
    }

    /// Bytes of memory that it takes, roughly.
    var byteCount: Int {
        header.byteCount + 256 + metadata.channels.count * MemoryLayout<GainMapMetadata.Channel>.stride
    }

    /// Whether the header of a file could say all this.
    var isPossible: Bool {
        header.isPossible && header.gainMap == nil && header.frames == 1
            && ([1, 3].contains(header.bands) && header.drawing == nil)
    }
}

extension GainMap: Hashable {
    package static func == (one: GainMap, other: GainMap) -> Bool {
        one === other
            || one.place == other.place && one.header == other.header && one.metadata == other.metadata
                && one.samples == other.samples
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(place)
        hasher.combine(metadata)
    }
}

/// The meaning of a gain map's samples, as ISO 21496-1 and Adobe's specification of gain maps 1.0 state it.
///
/// A sample from 0 to 1, to the power of one divided by gamma, lies between the least and the most gain, which are
/// logarithms to the base 2. Numbers are fractions, as ISO 21496-1 has them, so that they go from file to file as they
/// were.
package struct GainMapMetadata: Hashable, Sendable {
    /// A number.
    package struct Fraction: Hashable, Sendable {
        package let numerator: Int
        /// Above 0.
        package let denominator: Int

        /// The quotient of two whole numbers; `denominator` is above 0.
        package init(_ numerator: Int, _ denominator: Int = 1) {
            (self.numerator, self.denominator) = (numerator, denominator)
        }

        /// The nearest number.
        package var value: Double { Double(numerator) / Double(denominator) }
    }

    /// The numbers of one component of the map, or of all of them.
    package struct Channel: Hashable, Sendable {
        package var least = Fraction(0)
        package var most: Fraction
        package var gamma = Fraction(1)
        /// The number that is added to the image's light before it is multiplied.
        package var baseOffset = Fraction(1, 64)
        /// The number that is subtracted afterwards.
        package var alternateOffset = Fraction(1, 64)

        /// Gains up to `most`, a logarithm, with the usual numbers besides.
        package init(most: Fraction) { self.most = most }
    }

    /// The headroom of a display, as a logarithm, up to which the image is shown as it is.
    package var baseHeadroom = Fraction(0)
    /// The headroom of a display, as a logarithm, from which on the map counts in full.
    package var alternateHeadroom: Fraction
    /// One for all components, or three for red, green and blue.
    package var channels: [Channel]
    /// Whether the gains are those of the image's color space, and not of the brighter image's.
    package var usesBaseColors = true

    /// A map that counts in full from this headroom on.
    package init(alternateHeadroom: Fraction, channels: [Channel]) {
        (self.alternateHeadroom, self.channels) = (alternateHeadroom, channels)
    }
}

extension GainMapMetadata {
    /// The values as numbers, for records.
    package var numbers: [Int] {
        [usesBaseColors ? 1 : 0] + fractions.flatMap { [$0.numerator, $0.denominator] }
    }

    /// More stops than any display can show, so that light which is multiplied by a headroom stays a finite number.
    private static let mostHeadroom = 64.0

    /// Most numbers of ``numbers``.
    package static let mostNumbers = 35

    /// The values that these numbers stand for; nil for numbers that no file may state.
    package init?(numbers: [Int]) {
        guard [15, Self.mostNumbers].contains(numbers.count), 0...1 ~= numbers[0] else { return nil }
        let fractions = stride(from: 1, to: numbers.count, by: 2).map { Fraction(numbers[$0], numbers[$0 + 1]) }
        self.init(fractions: fractions, usesBaseColors: numbers[0] == 1)
    }

    /// The same values; nil if they make no sense.
    var checked: GainMapMetadata? { GainMapMetadata(fractions: fractions, usesBaseColors: usesBaseColors) }

    /// Two headrooms, and five numbers for each component.
    var fractions: [Fraction] {
        [baseHeadroom, alternateHeadroom]
            + channels.flatMap { [$0.least, $0.most, $0.gamma, $0.baseOffset, $0.alternateOffset] }
    }

    /// The values of a file; nil for those that make no sense.
    init?(fractions: [Fraction], usesBaseColors: Bool) {
        guard [7, 17].contains(fractions.count), fractions.allSatisfy(\.isPossible) else { return nil }
        let channels = stride(from: 2, to: fractions.count, by: 5).map { start in
            var channel = Channel(most: fractions[start + 1])
            (channel.least, channel.gamma) = (fractions[start], fractions[start + 2])
            (channel.baseOffset, channel.alternateOffset) = (fractions[start + 3], fractions[start + 4])
            return channel
        }
        guard
            channels.allSatisfy({ $0.gamma.numerator > 0 && $0.least.value <= $0.most.value }),
            fractions[0].numerator >= 0, fractions[1].value > fractions[0].value,
            fractions[1].value <= Self.mostHeadroom
        else { return nil }
        self.init(alternateHeadroom: fractions[1], channels: channels)
        (baseHeadroom, self.usesBaseColors) = (fractions[0], usesBaseColors)
    }
}

extension GainMapMetadata.Fraction {
    /// Whether ISO 21496-1 can state it.
    fileprivate var isPossible: Bool {
        Int(Int32.min)...Int(Int32.max) ~= numerator && 1...Int(UInt32.max) ~= denominator
    }
}
