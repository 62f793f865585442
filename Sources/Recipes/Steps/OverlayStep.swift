/// Overlays an additional source on the image, once or as tiles.
///
/// Premultiplied sRGB components are mixed exactly and rounded once.
package struct OverlayStep: Hashable, AdditionStep {
    /// The source's index in ``RenderPlan/additions``.
    package let addition: Int
    /// The form of its pixels, which repeats to the right and down if the covered area is larger.
    package var form: AdditionForm
    package let x: Int
    package let y: Int
    package let coveredSize: PixelSize
    /// Opacity in percent, 1…100.
    package let opacity: Int
    let decoded: FrameShape

    /// Nanoseconds per covered pixel; see ``TimeCost``.
    private static let time = 8.0

    /// Creates a step that places an additional source by `layout`.
    ///
    /// - Parameter margins: Transparent margins, included in the source's size in `layout`.
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
    /// Creates a step that covers the first pixels of the image with one copy, to estimate the cost of a source in this
    /// form.
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
        // Planes that are not reduced become pixels as a whole first.
        let isReduced =
            form.scaledSize.width <= decoded.size.width && form.scaledSize.height <= decoded.size.height
            && min(form.scaledSize.width, form.scaledSize.height) >= StepGeometry.shortestPlane
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

    /// The parameters but `watermark`, which names the source.
    package func parameters(on size: PixelSize) -> [StepParameter]? {
        [("watermarkPosition", "top-left"), ("watermarkX", String(x)), ("watermarkY", String(y))]
            + (opacity < 100 ? [("watermarkOpacity", String(opacity))] : [])
    }

    var additionForm: AdditionForm? { form }
}
