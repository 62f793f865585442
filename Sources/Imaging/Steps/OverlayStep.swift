import Memory

/// An additional source laid on the image, once or as tiles.
///
/// Colors are mixed as premultiplied sRGB components, exactly, and rounded once.
package struct OverlayStep: Hashable {
    /// The place of the source in ``RenderPlan/additions``.
    package let addition: Int
    /// The form of its pixels, which is repeated to the right and down where the covered area is larger.
    package private(set) var form: AdditionForm
    /// Distance of the covered area's left edge from the image's.
    package let x: Int
    /// Distance of the covered area's top edge from the image's.
    package let y: Int
    /// The size of the covered area, which lies within the image.
    package let coveredSize: PixelSize
    /// Opacity in per cent, 1…100.
    package let opacity: Int
    /// A frame of the decoded source, which decides the price.
    let decoded: FrameShape

    /// Nanoseconds of one core for each covered pixel; measured as ``TimePrice`` says.
    private static let time = 8.0

    /// A step that lays an additional source on the image by `layout`.
    ///
    /// - Parameter margins: Transparent margins that belong to the size of the source in `layout`.
    package init(
        of addition: Int, layout: OverlayLayout, decoded: FrameShape, opacity: Int, light: ResamplingLight,
        margins: ImageOperations.Margins = ImageOperations.Margins()
    ) {
        self.addition = addition
        self.opacity = opacity
        self.decoded = decoded
        (x, y, coveredSize) = (layout.x, layout.y, layout.coveredSize)
        form = AdditionForm(
            scaledSize: layout.scaledSize, firstColumn: layout.firstColumn, firstRow: layout.firstRow,
            size: PixelSize(
                width: min(layout.scaledSize.width, layout.coveredSize.width),
                height: min(layout.scaledSize.height, layout.coveredSize.height)),
            light: light)
        form.margins = margins
    }
}

extension OverlayStep {
    /// A step that covers the first pixels of the image with one copy: what a source in this form costs elsewhere, too.
    init(of addition: Int, form: AdditionForm, decoded: FrameShape) {
        (self.addition, self.form, self.decoded) = (addition, form, decoded)
        (x, y, coveredSize, opacity) = (0, 0, form.size, 100)
    }
}

extension OverlayStep: FilterStep {
    package func cost(of work: StepWork) -> StepCost {
        let resample = ResampleStep(to: form.scaledSize, in: form.light)
        let scaling = StepWork(
            input: decoded, output: FrameShape(size: form.size, hasAlpha: true), read: decoded.size.area,
            made: form.size.area)
        // Planes that are not made smaller become pixels as a whole before.
        let isReduced =
            form.scaledSize.width <= decoded.size.width && form.scaledSize.height <= decoded.size.height
            && min(form.scaledSize.width, form.scaledSize.height) >= PlanarTarget.shortestSide
        return StepCost(
            perFrame: Double(coveredSize.area) * Self.time, once: resample.cost(of: scaling).perFrame,
            bytes: 4 * (work.input.size.area + form.size.area + (isReduced ? 0 : decoded.size.area)))
    }

    package var keyText: String {
        "overlay \(addition) \(form.keyText) at \(x),\(y) \(coveredSize.width)x\(coveredSize.height) \(opacity)"
    }

    package var words: String {
        "lay additional source \(addition + 1) on the image as \(form.scaledSize) pixels at \(x), \(y)"
            + (opacity == 100 ? "" : ", \(opacity) % opaque")
    }

    package var inDisplayP3: any RenderStep {
        var step = self
        step.form.isWide = true
        return step
    }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let stamp = try context.pixels(of: addition, in: form)
        let image = try stamp.bands > 2 ? image.inColor() : image
        return try unsafe stamp.pixels.withUnsafeBytes { bytes throws in
            try unsafe image.overlaid(
                with: bytes, size: stamp.size, bands: stamp.bands, left: x, top: y, covering: coveredSize,
                opacity: opacity)
        }
    }
}

extension OverlayStep: AdditionStep {
    var additionForm: AdditionForm? { form }
}

extension OverlayStep: StampingStep {
    func stamp(in range: PlaneRange, context: inout StepContext) throws -> PlaneStamp {
        var form = form
        form.planeRange = range
        return PlaneStamp(
            samples: try context.pixels(of: addition, in: form), x: x, y: y, coveredSize: coveredSize, opacity: opacity)
    }
}
