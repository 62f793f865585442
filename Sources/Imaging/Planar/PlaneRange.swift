/// What the numbers of a sample mean.
package enum PlaneRange: Hashable, Sendable {
    /// 0…255, as in JPEG.
    case full
    /// Luma 16…235 and chroma 16…240, as in WebP.
    case limited

    /// How 16-bit samples of this range, 65535 for 255, become 8-bit ones of another: factor and addend.
    func conversion(to other: PlaneRange, isLuma: Bool) -> (scale: Float, offset: Float) {
        let (from, to) = (extent(isLuma: isLuma), other.extent(isLuma: isLuma))
        let factor = to.length / from.length
        return (Float(factor / 257), Float(to.start - from.start * factor))
    }

    /// Where a sample that means nothing lies, and how far it is from there to one that means all.
    ///
    /// Chroma means nothing in the middle.
    private func extent(isLuma: Bool) -> (start: Double, length: Double) {
        switch (self, isLuma) {
        case (.full, true): (0, 255)
        case (.full, false): (128, 255)
        case (.limited, true): (16, 219)
        case (.limited, false): (128, 224)
        }
    }
}
