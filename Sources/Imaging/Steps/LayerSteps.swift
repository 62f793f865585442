import Coordination
import Memory
package import Recipes

extension OverlayStep: VipsStep {
    package var inDisplayP3: any RenderStep {
        var step = self
        step.form.isDisplayP3 = true
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

extension OverlayStep: PlaneStampStep {
    func stamp(in range: PlaneRange, context: inout StepContext) throws -> PlaneStamp {
        var form = form
        form.planeRange = range
        return PlaneStamp(
            samples: try context.pixels(of: addition, in: form), x: x, y: y, coveredSize: coveredSize, opacity: opacity)
    }
}

extension BlendStep: VipsStep {
    package var inDisplayP3: any RenderStep {
        var paint = paint
        switch paint {
        case .addition(let addition, var form, let decoded):
            form.isDisplayP3 = true
            paint = .addition(addition, form: form, decoded: decoded)
        case .color(let color, let size): paint = .color(color.inDisplayP3, size: size)
        }
        return BlendStep(paint, across: across, down: down, mode: mode, opacity: opacity)
    }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let image = try mode.addsAlpha ? image.inColor().withAlpha() : image.inColor()
        guard case .addition(let addition, let form, _) = paint else {
            return try unsafe blended(image, with: nil, token: context.token)
        }
        let stamp = try context.pixels(of: addition, in: form)
        let token = context.token
        return try unsafe stamp.pixels.withUnsafeBytes { bytes throws in
            try unsafe blended(image, with: (bytes, stamp.size, stamp.bands), token: token)
        }
    }

    @unsafe
    private func blended(_ image: VipsImage, with stamp: VipsImage.Stamp?, token: WorkToken) throws -> VipsImage {
        let fill: (Color, PixelSize)? = if case .color(let color, let size) = paint { (color, size) } else { nil }
        return try unsafe image.blended(
            mode, opacity: opacity, across: across, down: down, stamp: stamp, fill: fill, token: token)
    }
}
