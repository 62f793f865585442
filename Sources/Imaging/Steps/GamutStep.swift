import Recipes

/// A color conversion that the renderer adds when the decoded colors are known; not part of plans and keys.
struct GamutStep: Hashable {
    let conversion: GamutConversion
}

extension GamutStep: FilterStep, VipsStep {
    func cost(of work: StepWork) -> StepCost { .filtering(work, time: TimeCost.profile) }

    var keyText: String { "gamut \(conversion.toDisplayP3 ? "p3" : "srgb")" }

    var summary: String { "change the colors to \(conversion.toDisplayP3 ? "Display P3" : "sRGB")" }

    func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        image.bands < 3 ? image : try image.converted(by: conversion, token: context.token)
    }
}

extension GamutStep: PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? { target.filtered(by: .gamut(conversion)) }
}

extension RenderSteps {
    /// Adds conversions from the colors of `profile` (nil is sRGB).
    ///
    /// Pixels are resampled in their own space and then converted, when there are fewer of them. Colors named in steps
    /// are sRGB, and steps that change colors need sRGB.
    func convertingColors(from profile: ColorProfile?, toDisplayP3 isDisplayP3: Bool) -> RenderSteps {
        let stepsUseDisplayP3 = isDisplayP3 && profile?.isSRGB == false && allSatisfy { $0.colors != .changed }
        var steps = Array(self)
        if stepsUseDisplayP3 { steps = steps.map(\.vipsStep.inDisplayP3) }
        let index = steps.prefix { $0 is ResampleStep || $0 is CropStep || $0 is TurnStep }.count
        if let conversion = GamutConversion(from: profile, toDisplayP3: stepsUseDisplayP3) {
            steps.insert(GamutStep(conversion: conversion), at: index)
        }
        if isDisplayP3, !stepsUseDisplayP3, let conversion = GamutConversion.srgbToDisplayP3 {
            steps.append(GamutStep(conversion: conversion))
        }
        return RenderSteps(steps)
    }
}
