import Coordination
import Memory
package import Recipes

extension AdditionForm {
    /// Scales the image and adds alpha; throws a `VipsError` or the error of `token`.
    func pixels(of image: DecodedImage, token: WorkToken) throws -> DecodedImage {
        if matches(image) { return image }
        if let planeRange {
            var interleaved = self
            interleaved.planeRange = nil
            return try interleaved.pixels(of: image, token: token).split(to: planeRange)
        }
        var (source, steps): (DecodedImage, RenderSteps) = (image, [ResampleStep(to: innerSize, in: light)])
        if image.bands >= 3 { steps = steps.convertingColors(from: image.profile, toDisplayP3: isDisplayP3) }
        if case .planar = image.layout {
            let whole = PlanarTarget(of: image.size)
            var (target, count) = steps.planarTarget(from: whole)
            if !target.canResample(from: image.size) {
                target = whole
                count = 0
            }
            source = try PlanarRenderer.renderPixels(of: image, to: target, token: token)
            steps.removeFirst(count)
        }
        defer { extendLifetime(source) }
        return try unsafe source.pixels.withUnsafeBytes { bytes throws in
            var scaled = try unsafe VipsImage.wrapping(
                bytes, width: source.size.width, height: source.size.height, bands: source.bands)
            var context = StepContext(token: token)
            for step in steps { scaled = try step.vipsStep.applied(to: scaled, in: &context) }
            if hasMargins {
                scaled = try MarginStep(margins, color: .transparent).applied(to: scaled, in: &context)
            }
            // Pixels are computed on demand: pixels outside the region cost nothing.
            let isWrapped = firstColumn + size.width > scaledSize.width || firstRow + size.height > scaledSize.height
            if isWrapped { scaled = try scaled.repeatedTwice() }
            let visible = try scaled.extracted(left: firstColumn, top: firstRow, width: size.width, height: size.height)
                .withAlpha()
            return DecodedImage(pixels: try visible.pixels(token: token), size: size, bands: visible.bands)
        }
    }

    /// Returns whether the image already has this form.
    func matches(_ image: DecodedImage) -> Bool {
        guard planeRange == nil, !hasMargins, !isDisplayP3, image.profile == nil, case .interleaved = image.layout
        else {
            return false
        }
        return image.hasAlpha && image.size == scaledSize && size == scaledSize && firstColumn == 0 && firstRow == 0
    }
}

/// Returns the cached scaled pixels of an additional source, or the result of `make`.
///
/// The index is in ``RenderPlan/additions``. Called on worker threads.
package typealias AdditionPixelCache =
    @Sendable (_ index: Int, _ form: AdditionForm, _ make: () throws -> DecodedImage) throws -> DecodedImage

extension AdditionForm {
    package static let uncached: AdditionPixelCache = { _, _, make in try make() }
}
