/// The range of the samples of planes.
package enum PlaneRange: Hashable, Sendable {
    /// 0…255, as in JPEG.
    case full
    /// Luma 16…235 and chroma 16…240, as in WebP.
    case limited

    /// The conversion of 16-bit samples of this range, 65535 for 255, to 8-bit samples of another: factor and summand.
    func conversion(to other: PlaneRange, isLuma: Bool) -> (scale: Float, offset: Float) {
        let (from, to) = (extent(isLuma: isLuma), other.extent(isLuma: isLuma))
        let factor = to.length / from.length
        return (Float(factor / 257), Float(to.start - from.start * factor))
    }

    /// Luma, Cb and Cr of a colour by BT.601; alpha is ignored.
    func samples(of color: Color) -> [UInt8] {
        let (red, green, blue) = (Double(color.red), Double(color.green), Double(color.blue))
        let luma = 0.299 * red + 0.587 * green + 0.114 * blue
        return [luma, (blue - luma) / 1.772, (red - luma) / 1.402].enumerated().map { index, value in
            let (start, length) = extent(isLuma: index == 0)
            return UInt8(min(max((start + value * (length / 255)).rounded(), 0), 255))
        }
    }

    /// The value of the sample for zero, and its distance to the value for the maximum.
    ///
    /// For chroma, zero is in the middle of the range.
    private func extent(isLuma: Bool) -> (start: Double, length: Double) {
        switch (self, isLuma) {
        case (.full, true): (0, 255)
        case (.full, false): (128, 255)
        case (.limited, true): (16, 219)
        case (.limited, false): (128, 224)
        }
    }
}
