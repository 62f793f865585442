import Recipes

/// The visible rectangle of an image (`clap`, ISO/IEC 14496-12 section 12.1.4).
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

    func rectangle(in size: PixelSize) throws(ImagingError) -> PixelRectangle {
        func span(_ length: Fraction, offset: Fraction, of side: Int) throws(ImagingError) -> Range<Int> {
            let length = (Double(length.numerator) / Double(length.denominator)).rounded()
            let middle = Double(offset.numerator) / Double(offset.denominator) + Double(side - 1) / 2
            let start = (middle - (length - 1) / 2).rounded(.down)
            let end = min(start + length, Double(side))
            guard max(0, start) < end else { throw .cannotDecode(detail: "the aperture shows nothing") }
            return Int(max(0, start))..<Int(end)
        }
        let across = try span(width, offset: right, of: size.width)
        let down = try span(height, offset: self.down, of: size.height)
        return PixelRectangle(
            x: across.lowerBound, y: down.lowerBound, size: PixelSize(width: across.count, height: down.count))
    }
}
