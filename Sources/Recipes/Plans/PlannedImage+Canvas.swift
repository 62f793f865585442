/// How to fill a canvas around an image.
package enum CanvasFill {
    case color(Color)
    case backdrop(BackdropStep.Kind)
}

extension PlannedImage {
    /// Places the image's top left pixel at a point of a canvas; crops the image at the canvas's edges.
    package mutating func place(on canvas: PixelSize, x: Int, y: Int, fill: CanvasFill) {
        let visible = PixelSize(
            width: min(size.width + min(x, 0), canvas.width - max(x, 0)),
            height: min(size.height + min(y, 0), canvas.height - max(y, 0)))
        if visible != size { apply(CropStep(x: max(0, -x), y: max(0, -y), size: visible)) }
        guard visible != canvas else { return }
        let x = max(0, x)
        let y = max(0, y)
        switch fill {
        case .color(let color): apply(CanvasStep(size: canvas, x: x, y: y, color: color))
        case .backdrop(let kind): apply(BackdropStep(kind, size: canvas, x: x, y: y))
        }
    }
}
