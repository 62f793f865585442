/// Identifies the pixels of an additional source, scaled and cropped to the visible region.
///
/// They depend only on the source, so that several renders can share them.
package struct AdditionForm: Hashable, Sendable {
    package let scaledSize: PixelSize
    package var margins = ImageOperations.Margins()
    package let firstColumn: Int
    package let firstRow: Int
    /// The size, at most ``scaledSize``; wraps around at the edges of the source.
    package let size: PixelSize
    package let light: ResamplingLight
    /// The range of separate planes of luma, Cb, Cr and alpha; nil for interleaved pixels.
    package var planeRange: PlaneRange?
    package var isDisplayP3 = false

    /// Ignores the layout's position.
    init(_ layout: OverlayLayout, light: ResamplingLight) {
        scaledSize = layout.scaledSize
        firstColumn = layout.firstColumn
        firstRow = layout.firstRow
        size = PixelSize(
            width: min(layout.scaledSize.width, layout.coveredSize.width),
            height: min(layout.scaledSize.height, layout.coveredSize.height))
        self.light = light
    }

    /// Returns the cost of scaling the decoded source; `perFrame` is added for the step on each frame.
    func cost(from decoded: FrameShape, on input: FrameShape, perFrame: Double) -> StepCost {
        let scaling = StepWork(
            input: decoded, output: FrameShape(size: size, hasAlpha: true),
            pixelsRead: decoded.size.area, pixelsComputed: size.area)
        // Unreduced planes are first converted to pixels.
        let isReduced =
            scaledSize.width <= decoded.size.width && scaledSize.height <= decoded.size.height
            && min(scaledSize.width, scaledSize.height) >= StepGeometry.shortestPlane
        return StepCost(
            perFrame: perFrame, once: ResampleStep(to: scaledSize, in: light).cost(of: scaling).perFrame,
            bytes: 4 * (input.size.area + size.area + (isReduced ? 0 : decoded.size.area)))
    }

    var keyText: String {
        let pad = "pad \(margins.top),\(margins.right),\(margins.bottom),\(margins.left)"
        return "\(scaledSize.keyText) \(firstColumn),\(firstRow) \(size.keyText) "
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
