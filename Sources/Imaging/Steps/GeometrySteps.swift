import Coordination
package import Recipes

extension ResampleStep: VipsStep, PlanarStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        guard let region else { return try image.resampled(to: size, in: light) }
        let cut = region.rounded(in: PixelSize(width: image.width, height: image.height))
        return try image.extracted(left: cut.x, top: cut.y, width: cut.size.width, height: cut.size.height)
            .resampled(to: size, in: light)
    }
}

extension CropStep: VipsStep, PlanarStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.extracted(left: x, top: y, width: size.width, height: size.height)
    }
}

extension TurnStep: VipsStep, PlanarStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.turned(turn, token: context.token)
    }
}

extension RotationStep: VipsStep {
    package var inDisplayP3: any RenderStep { RotationStep(degrees: degrees, corners: corners.inDisplayP3) }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let frame = size(after: PixelSize(width: image.width, height: image.height))
        return try image.rotated(byDegrees: degrees, into: frame, corners: corners, token: context.token)
    }
}

extension ZoomStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        // Compute the input once; otherwise each tile would compute its pixels again.
        try image.computed().zoomed(by: factor)
    }
}

extension InterestStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        // The search reads the pixels several times.
        image.watch(context.token)
        let computed = try image.computed()
        try context.token.check()
        let origin = try context.onFirstFrame { try computed.smartCropOrigin(for: size, by: measure) }
        return try computed.extracted(left: origin.left, top: origin.top, width: size.width, height: size.height)
    }
}
