package import Recipes

/// Options for a box; `change` sets further options.
package func options(
    _ width: Int?, _ height: Int?, _ fit: Fit = .inside, enlarge: Bool = false,
    change: (inout RenderingOptions) -> Void = { _ in }
) -> RenderingOptions {
    var options = RenderingOptions()
    options.width = width
    options.height = height
    options.fit = fit
    options.enlarge = enlarge
    change(&options)
    return options
}

/// The plan for a JPEG of this size under the default limits.
package func plan(
    _ width: Int, _ height: Int, _ options: RenderingOptions, format: ImageFormat = .jpeg
) throws -> RenderPlan {
    let source = ImageHeader(format: .jpeg, storedSize: PixelSize(width: width, height: height))
    return try RenderPlan(options: options, format: format, source: source, limits: ImagingLimits())
}

extension RenderPlan {
    package var resizedSize: PixelSize? { step(ResampleStep.self)?.size }
    package var crop: CropStep? { step(CropStep.self) }
    package var interest: InterestStep? { step(InterestStep.self) }
    package var canvas: CanvasStep? { step(CanvasStep.self) }
    package var background: Color? { step(BackgroundStep.self)?.color }

    private func step<Step: RenderStep>(_ kind: Step.Type) -> Step? {
        steps.lazy.compactMap { $0 as? Step }.first
    }
}
