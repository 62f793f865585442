/// A change of the colors' gamut.
///
/// No recipe has it: the renderer adds it when it knows what the decoded pixels mean, so it is in no key.
struct GamutStep: Hashable {
    let conversion: GamutConversion
}

extension GamutStep: FilterStep {
    func cost(of work: StepWork) -> StepCost { .filtering(work, time: TimePrice.profile) }

    var keyText: String { "gamut \(conversion.toWide ? "p3" : "srgb")" }

    var words: String { "change the colors to \(conversion.toWide ? "Display P3" : "sRGB")" }

    func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        image.bands < 3 ? image : try image.converted(by: conversion, token: context.token)
    }
}

extension GamutStep: PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? { target.filtered(by: .gamut(conversion)) }
}

extension RenderSteps {
    /// These steps for pixels with the colors of `profile`, nil for sRGB, so that the result is sRGB or Display P3.
    ///
    /// Pixels are mixed in their own space and converted when there are few of them: after the resample. Colors that
    /// steps name are those of sRGB, and a step that changes colors works on sRGB.
    func shown(from profile: ColorProfile?, inWide isWide: Bool) -> RenderSteps {
        let worksWide = isWide && profile?.isStandard == false && allSatisfy { $0.colors != .changed }
        var steps = Array(self)
        if worksWide { steps = steps.map(\.inDisplayP3) }
        let place = steps.prefix { $0 is ResampleStep || $0 is CropStep || $0 is TurnStep }.count
        if let conversion = GamutConversion(from: profile, toWide: worksWide) {
            steps.insert(GamutStep(conversion: conversion), at: place)
        }
        if isWide, !worksWide, let widening = GamutConversion.widening {
            steps.append(GamutStep(conversion: widening))
        }
        return RenderSteps(steps)
    }
}
