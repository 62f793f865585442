/// Overlays an additional source once or as tiles; mixes premultiplied sRGB components and rounds once.
package struct OverlayStep: Hashable, AdditionStep {
    /// An index in ``RenderPlan/additions``.
    package let addition: Int
    /// The scaled source; it repeats to the right and down if the covered area is larger.
    package var form: AdditionForm
    package let x: Int
    package let y: Int
    package let coveredSize: PixelSize
    package let opacity: Int
    let decoded: FrameShape
    private static let time = 8.0

    /// - Parameter margins: Transparent margins, included in the source's size in `layout`.
    package init(
        of addition: Int, layout: OverlayLayout, decoded: FrameShape, opacity: Int, light: ResamplingLight,
        margins: ImageOperations.Margins = ImageOperations.Margins()
    ) {
        self.addition = addition
        self.opacity = opacity
        self.decoded = decoded
        x = layout.x
        y = layout.y
        coveredSize = layout.coveredSize
        form = AdditionForm(layout, light: light)
        form.margins = margins
    }
}

extension OverlayStep: FilterStep {
    package func cost(of work: StepWork) -> StepCost {
        form.cost(from: decoded, on: work.input, perFrame: Double(coveredSize.area) * Self.time)
    }

    package var keyText: String {
        "overlay \(addition) \(form.keyText) at \(x),\(y) \(coveredSize.keyText) \(opacity)"
    }

    package var summary: String {
        "draw additional source \(addition + 1) over the image as \(form.scaledSize) pixels at \(x), \(y)"
            + (opacity == 100 ? "" : ", \(opacity) % opaque")
    }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        [("watermarkPosition", "top-left"), ("watermarkX", String(x)), ("watermarkY", String(y))]
            + (opacity < 100 ? [("watermarkOpacity", String(opacity))] : [])
    }

    var additionForm: AdditionForm? { form }
}
