import Recipes

/// The visible part of an image (`clap`, ISO/IEC 14496-12 section 12.1.4).
struct HEIFAperture: Equatable {
    private let width, height, right, down: Fraction

    private struct Fraction: Equatable {
        let numerator: Int
        let denominator: Int
    }

    init(_ bytes: RawSpan, at offset: Int) throws(ImagingError) {
        func fraction(_ index: Int, isSigned: Bool) throws(ImagingError) -> Fraction {
            let numerator = try bytes.bigEndian32(at: offset + 8 * index)
            let denominator = try bytes.bigEndian32(at: offset + 8 * index + 4)
            guard 1...Int(Int32.max) ~= denominator, isSigned || numerator <= Int32.max else {
                throw .cannotDecode(detail: "the aperture has the fraction \(numerator)/\(denominator)")
            }
            return Fraction(
                numerator: isSigned ? Int(Int32(truncatingIfNeeded: numerator)) : numerator, denominator: denominator)
        }
        width = try fraction(0, isSigned: false)
        height = try fraction(1, isSigned: false)
        right = try fraction(2, isSigned: true)
        down = try fraction(3, isSigned: true)
    }

    func part(of size: PixelSize) throws(ImagingError) -> (x: Int, y: Int, size: PixelSize) {
        func span(_ part: Fraction, _ offset: Fraction, of side: Int) throws(ImagingError) -> Range<Int> {
            let length = (Double(part.numerator) / Double(part.denominator)).rounded()
            let middle = Double(offset.numerator) / Double(offset.denominator) + Double(side - 1) / 2
            let start = (middle - (length - 1) / 2).rounded(.down)
            let end = min(start + length, Double(side))
            guard max(0, start) < end else { throw .cannotDecode(detail: "the aperture shows nothing") }
            return Int(max(0, start))..<Int(end)
        }
        let across = try span(width, right, of: size.width)
        let down = try span(height, self.down, of: size.height)
        return (across.lowerBound, down.lowerBound, PixelSize(width: across.count, height: down.count))
    }
}

/// A crop, then a mirror and a turn.
///
/// The properties of an item apply in order, followed by the properties of an item that shows it.
struct HEIFTransform: Equatable {
    private(set) var part: (x: Int, y: Int, size: PixelSize)
    private(set) var turn = QuarterTurn.none

    init(of size: PixelSize) { part = (0, 0, size) }

    var shownSize: PixelSize { turn.turned(part.size) }

    mutating func apply(_ property: HEIFProperty) throws(ImagingError) {
        switch property {
        case .aperture(let aperture): try cut(aperture)
        // `irot` is counterclockwise.
        case .rotation(let quarters): turn = turn.then(QuarterTurn(quarters: -quarters))
        case .mirror(let isDown): turn = turn.then(isDown ? .mirrorY : .mirrorX)
        default: break
        }
    }

    private mutating func cut(_ aperture: HEIFAperture) throws(ImagingError) {
        let shown = try aperture.part(of: shownSize)
        let stored = turn.inverse.turned(ImagePart(x: shown.x, y: shown.y, size: shown.size, of: shownSize))
        part = (part.x + stored.x, part.y + stored.y, stored.size)
    }

    static func == (one: HEIFTransform, other: HEIFTransform) -> Bool {
        one.part == other.part && one.turn == other.turn
    }
}
