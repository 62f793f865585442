/// The part of an image that is shown (`clap`, ISO/IEC 14496-12 section 12.1.4): its size, and its middle's distance
/// from the image's.
struct HEIFAperture: Equatable {
    private let width, height, right, down: Fraction

    private struct Fraction: Equatable {
        let numerator: Int
        let denominator: Int
    }

    /// Reads the box at `offset`.
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

    /// The size of the shown part of an image of `size`.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` if nothing is shown.
    func size(in size: PixelSize) throws(ImagingError) -> PixelSize {
        func left(_ part: Fraction, _ offset: Fraction, of side: Int) throws(ImagingError) -> Int {
            let length = (Double(part.numerator) / Double(part.denominator)).rounded()
            let middle = Double(offset.numerator) / Double(offset.denominator) + Double(side - 1) / 2
            let start = (middle - (length - 1) / 2).rounded(.down)
            let end = min(start + length, Double(side))
            guard max(0, start) < end else { throw .cannotDecode(detail: "the aperture shows nothing") }
            return Int(end - max(0, start))
        }
        return try PixelSize(
            width: left(width, right, of: size.width), height: left(height, down, of: size.height))
    }
}
