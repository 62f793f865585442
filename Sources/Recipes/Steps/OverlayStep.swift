/// Overlays an additional source, once or as tiles; mixes premultiplied sRGB components exactly, and rounds once.
package struct OverlayStep: Hashable, AdditionStep {
    /// An index in ``RenderPlan/additions``.
    package let addition: Int
    /// Repeats to the right and down if the covered area is larger.
    package var form: AdditionForm
    package let x: Int
    package let y: Int
    package let coveredSize: PixelSize
    package let opacity: Int
    let decoded: FrameShape
    private static let time = 8.0

    /// - Parameter margins: Transparent; included in the source's size in `layout`.
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
    /// Covers the first pixels of the image with one copy, to estimate the cost of a source in this form.
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
        "draw additional source \(addition + 1) over the image as \(form.scaledSize) pixels at \(x), \(y)"
            + (opacity == 100 ? "" : ", \(opacity) % opaque")
    }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        [("watermarkPosition", "top-left"), ("watermarkX", String(x)), ("watermarkY", String(y))]
            + (opacity < 100 ? [("watermarkOpacity", String(opacity))] : [])
    }

    var additionForm: AdditionForm? { form }
}
