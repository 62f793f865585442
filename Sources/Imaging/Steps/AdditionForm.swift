import Coordination
import Memory

/// The form in which a step uses the pixels of an additional source: resampled, and cut to the part that is visible.
///
/// It depends on no image that the source is used on, so several renders can use the same pixels.
package struct AdditionForm: Hashable, Sendable {
    /// The size of the whole source after the resampling, with the margins around it.
    package let scaledSize: PixelSize
    /// Transparent margins around the resampled source, in pixels of the scaled one.
    package var margins = ImageOperations.Margins()
    /// The column of the scaled source that the part begins with.
    package let firstColumn: Int
    /// The row of the scaled source that the part begins with.
    package let firstRow: Int
    /// The size of the part, at most that of the scaled source; it goes on at the opposite edge where the source ends.
    package let size: PixelSize
    /// The meaning of samples while resampling averages them.
    package let light: ResamplingLight
    /// The range of BT.601 samples, if the pixels are luma, Cb, Cr and alpha, one kind after the other; nil if they are
    /// interleaved.
    package var planeRange: PlaneRange?
    /// Whether the pixels are Display P3, and not sRGB.
    package var isWide = false

    /// The form's text in the key of a cached result.
    var keyText: String {
        let pad = "pad \(margins.top),\(margins.right),\(margins.bottom),\(margins.left)"
        return "\(scaledSize.width)x\(scaledSize.height) \(firstColumn),\(firstRow) \(size.width)x\(size.height) "
            + light.rawValue + (hasMargins ? " " + pad : "")
    }

    private var hasMargins: Bool { margins != ImageOperations.Margins() }

    /// The size of the source without the margins.
    private var innerSize: PixelSize {
        PixelSize(
            width: scaledSize.width - margins.left - margins.right,
            height: scaledSize.height - margins.top - margins.bottom)
    }

    /// The pixels of `image` in this form, with alpha.
    ///
    /// - Throws: `VipsError`, or the error of `token`.
    func pixels(of image: DecodedImage, token: WorkToken) throws -> DecodedImage {
        if isForm(of: image) { return image }
        if let planeRange {
            var interleaved = self
            interleaved.planeRange = nil
            return try interleaved.pixels(of: image, token: token).split(to: planeRange)
        }
        var (source, steps): (DecodedImage, RenderSteps) = (image, [ResampleStep(to: innerSize, in: light)])
        if image.bands >= 3 { steps = steps.shown(from: image.profile, inWide: isWide) }
        if case .planar = image.layout {
            let whole = PlanarTarget(of: image.size)
            var (target, count) = steps.planarTarget(from: whole)
            if !target.isWithinReach(of: image.size) { (target, count) = (whole, 0) }
            source = try PlanarRendering.pixels(of: image, target: target, token: token)
            steps.removeFirst(count)
        }
        defer { extendLifetime(source) }
        return try unsafe source.pixels.withUnsafeBytes { bytes throws in
            var scaled = try unsafe VipsImage.pixels(
                bytes, width: source.size.width, height: source.size.height, bands: source.bands)
            var context = StepContext(token: token)
            for step in steps { scaled = try step.applied(to: scaled, in: &context) }
            if hasMargins {
                scaled = try MarginStep(margins, color: .transparent).applied(to: scaled, in: &context)
            }
            // Pixels are computed on demand: those outside of the part cost nothing.
            let isWrapped =
                firstColumn + size.width > scaledSize.width || firstRow + size.height > scaledSize.height
            if isWrapped { scaled = try scaled.repeatedTwice() }
            let part = try scaled.extracted(left: firstColumn, top: firstRow, width: size.width, height: size.height)
                .withAlpha()
            return DecodedImage(pixels: try part.pixels(token: token), size: size, bands: part.bands)
        }
    }

    /// Whether an image has this form already.
    func isForm(of image: DecodedImage) -> Bool {
        guard planeRange == nil, !hasMargins, !isWide, image.profile == nil, case .interleaved = image.layout else {
            return false
        }
        return image.hasAlpha && image.size == scaledSize && size == scaledSize && firstColumn == 0 && firstRow == 0
    }
}

/// Keeps the forms of additional sources from render to render: gives the pixels that are kept, or those that `make`
/// makes.
///
/// The index is that of the source in ``RenderPlan/additions``. Called on worker threads.
package typealias AdditionFormReuse =
    @Sendable (
        _ index: Int, _ form: AdditionForm, _ make: () throws -> DecodedImage
    ) throws -> DecodedImage

extension AdditionForm {
    /// Makes each form anew.
    package static let made: AdditionFormReuse = { _, _, make in try make() }
}
