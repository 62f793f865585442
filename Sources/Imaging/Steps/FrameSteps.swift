import Coordination
import Memory
package import Recipes

extension CanvasStep: VipsStep {
    package var inDisplayP3: any RenderStep { CanvasStep(size: size, x: x, y: y, color: color.inDisplayP3) }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        var image = try color.isGray ? image : image.inColor()
        if color.alpha < 255 { image = try image.withAlpha() }
        return try image.embedded(left: x, top: y, in: size, background: color.components(bands: image.bands))
    }
}

extension MarginStep: VipsStep {
    package var inDisplayP3: any RenderStep { MarginStep(margins, color: color.inDisplayP3) }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let size = margins.around(PixelSize(width: image.width, height: image.height))
        return try CanvasStep(size: size, x: margins.left, y: margins.top, color: color)
            .applied(to: image, in: &context)
    }
}

extension MarginStep: PlanarStep {
    /// Returns nil for odd margins at the left or top, which would shift the image between chroma samples.
    func target(after target: PlanarTarget) -> PlanarTarget? {
        guard color.alpha % 255 == 0, margins.left.isMultiple(of: 2), margins.top.isMultiple(of: 2) else { return nil }
        return target.filtered(by: .pad(margins, color))
    }
}

extension EdgeStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        image.watch(context.token)
        let image = try image.computed()
        try context.token.check()
        let size = margins.around(PixelSize(width: image.width, height: image.height))
        return try image.extended(edge, left: margins.left, top: margins.top, to: size)
    }
}

extension BackdropStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let token = context.token
        image.watch(token)
        let image = try image.computed()
        try token.check()
        switch kind {
        case .edges, .mirrored:
            return try image.extended(kind == .mirrored ? .mirror : .copy, left: x, top: y, to: size)
        case .mean:
            let color = try context.onFirstFrame { try image.meanColor(token: token) }
            return try CanvasStep(size: size, x: x, y: y, color: color).applied(to: image, in: &context)
        case .blurred(let sigma):
            let frameSize = PixelSize(width: image.width, height: image.height)
            let backdrop = try image.resampled(to: size, in: .gamma)
                .gaussianFiltered(sigma: Double(sigma) / 100_000, amount: -1, token: token)
            let stamp = try image.withAlpha()
            let pixels = try stamp.pixels(token: token)
            // The pixels live until the end of this scope.
            return try unsafe pixels.withUnsafeBytes { bytes throws in
                try unsafe backdrop.overlaid(
                    with: bytes, size: frameSize, bands: stamp.bands, left: x, top: y, covering: frameSize, opacity: 100
                ).computed()
            }
        }
    }
}

extension OutlineStep: VipsStep {
    package var inDisplayP3: any RenderStep { OutlineStep(shape, color: color.inDisplayP3) }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let size = PixelSize(width: image.width, height: image.height)
        return try image.cut(to: outline(in: size), color: color, token: context.token)
    }
}

extension OutlineStep: PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? {
        color.alpha % 255 == 0 ? target.filtered(by: .cut(outline(in: target.size), color)) : nil
    }
}

extension BackgroundStep: VipsStep {
    package var inDisplayP3: any RenderStep { BackgroundStep(color.inDisplayP3, mixing: mixing) }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        guard image.hasAlpha else { return image }
        if color.alpha == 255 { return try image.flattenedInColor(on: color) }
        return try image.inColor().composited(over: color, isPremultiplied: mixing == .sum)
    }
}

extension BackgroundStep: PlanarStep {
    /// Planes are opaque, so that a background is not visible.
    func target(after target: PlanarTarget) -> PlanarTarget? { target }
}

extension OpaqueStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage { try image.opaque() }
}

extension OpaqueStep: PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? { target }
}

extension CornerBackgroundStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        guard image.hasAlpha else { return image }
        image.watch(context.token)
        let image = try image.inColor().computed()
        let token = context.token
        let color = try context.onFirstFrame {
            let corners = try [0, image.height - 1].flatMap { top in
                try [0, image.width - 1].map { left in
                    try image.extracted(left: left, top: top, width: 1, height: 1).pixels(token: token).array
                }
            }
            func mean(_ band: Int) -> UInt8 { UInt8((corners.reduce(2) { $0 + Int($1[band]) }) / 4) }
            return Color(red: mean(0), green: mean(1), blue: mean(2))
        }
        return try image.flattened(on: color)
    }
}

extension VipsImage {
    fileprivate func meanColor(token: WorkToken) throws -> Color {
        let pixel = try inColor().flattened(on: .white)
            .resampled(to: PixelSize(width: 1, height: 1), in: .gamma).pixels(token: token).array
        return Color(red: pixel[0], green: pixel[1], blue: pixel[2])
    }
}

extension Color {
    fileprivate func components(bands: Int) -> [Double] {
        let color = bands < 3 ? [red] : [red, green, blue]
        return (bands.isMultiple(of: 2) ? color + [alpha] : color).map(Double.init)
    }
}
