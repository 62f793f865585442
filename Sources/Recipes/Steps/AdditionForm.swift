/// Pixels of an additional source, resampled and cropped to the visible part.
///
/// Depends only on the source, so several renders can share the same pixels.
package struct AdditionForm: Hashable, Sendable {
    package let scaledSize: PixelSize
    package var margins = ImageOperations.Margins()
    package let firstColumn: Int
    package let firstRow: Int
    /// Not larger than ``scaledSize``; past an edge of the source, it wraps around.
    package let size: PixelSize
    package let light: ResamplingLight
    /// The range of separate planes of luma, Cb, Cr and alpha; nil if they are interleaved.
    package var planeRange: PlaneRange?
    package var isWide = false

    var keyText: String {
        let pad = "pad \(margins.top),\(margins.right),\(margins.bottom),\(margins.left)"
        return "\(scaledSize.width)x\(scaledSize.height) \(firstColumn),\(firstRow) \(size.width)x\(size.height) "
            + light.rawValue + (hasMargins ? " " + pad : "")
    }

    package var hasMargins: Bool { margins != ImageOperations.Margins() }

    package var innerSize: PixelSize {
        PixelSize(
            width: scaledSize.width - margins.left - margins.right,
            height: scaledSize.height - margins.top - margins.bottom)
    }
}

package enum PlaneRange: Hashable, Sendable {
    /// 0…255, as in JPEG.
    case full
    /// Luma 16…235 and chroma 16…240, as in WebP.
    case limited
}
