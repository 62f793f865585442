import Recipes

/// The frame header of an embedded JPEG file (ITU-T T.81 section B.2.2).
struct RAWFrame {
    let size: PixelSize
    /// Lossless JPEG, used for sensor data.
    let isLossless: Bool

    private static let maximumSegments = 64

    /// Returns nil if the range does not hold a JPEG file.
    init?(in range: Range<Int>, of bytes: RawSpan) throws(ImagingError) {
        guard try bytes.checkedArray(range.prefix(2)) == [0xFF, 0xD8] else { return nil }
        var offset = range.lowerBound + 2
        for _ in 0..<Self.maximumSegments {
            guard offset + 10 <= range.upperBound else { return nil }
            let segment = try bytes.checkedArray(offset..<offset + 10)
            guard segment[0] == 0xFF else { return nil }
            switch segment[1] {
            case 0xFF: offset += 1
            case 0xC0, 0xC1, 0xC2, 0xC3:
                isLossless = segment[1] == 0xC3
                // Canon stores adjacent samples as components.
                let width = segment.short(7) * (isLossless ? Int(segment[9]) : 1)
                guard let size = PixelSize(width: width, height: segment.short(5)).plausible,
                    isLossless || segment[4] == 8
                else { return nil }
                self.size = size
                return
            case 0xC4, 0xDB, 0xDD, 0xE0...0xEF, 0xFE: offset += 2 + max(2, segment.short(2))
            default: return nil
            }
        }
        return nil
    }
}
