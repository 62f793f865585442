import Recipes

/// Decides whether work is done on planes or by libvips.
///
/// Only the source's header and the request decide, never caches or load: the same source and parameters yield the same
/// bytes.
enum PlanarLane {
    static func mayDecode(_ header: ImageHeader, plan: DecodePlan) -> Bool {
        guard min(header.storedSize.width, header.storedSize.height) >= StepGeometry.shortestPlane * plan.level else {
            return false
        }
        return header.format.reading.mayHavePlanes(header)
    }

    /// Splits off the leading steps that planes support; the plan for libvips has the others.
    ///
    /// If the result is tiny or larger than the image, libvips runs all steps, on the image at its decoded size.
    ///
    /// - Parameter needsPixels: The result is pixels, regardless of its format.
    static func part(
        of plan: RenderPlan, for image: DecodedImage, needsPixels: Bool = false
    ) -> (target: PlanarTarget, rest: RenderPlan) {
        let whole = PlanarTarget(of: image.size)
        // Filters apply to planes that are encoded directly; without loss, pixels are.
        let isForPlanes = !needsPixels && !plan.isLossless && image.bands == 3 && plan.format.encoding?.planes != nil
        var start = whole
        start.takesFilters = isForPlanes
        // During a quality search, the planes are encoded more than once, and encoders may overwrite transparent parts.
        start.takesAlpha = isForPlanes && plan.format.encoding?.planes?.holdsAlpha == true && !plan.quality.isSearched
        var (target, count) = plan.steps.planarTarget(from: start)
        if isForPlanes, count < plan.steps.count { (target, count) = plan.steps.planarTarget(from: whole) }
        guard target.canResample(from: image.size) else { return (whole, plan) }
        var rest = plan.afterFirst(count)
        rest.hasSharpChroma = false
        target.hasSharpChroma =
            isForPlanes && plan.outputSize.area <= plan.format.maximumSharpPixels
            && plan.steps.planarTarget(from: whole).count == plan.steps.count
        return (target, rest)
    }

    /// Nil if the planes must be converted to pixels: for steps of libvips, gray profiles, and formats without a planar
    /// encoder.
    static func encoder(for image: DecodedImage, rest: RenderPlan) -> PlaneEncoder? {
        guard !rest.isLossless, image.bands == 3 || image.profile == nil else { return nil }
        if !rest.steps.isEmpty {
            // A gray image may become a color image. Compared with encoders in worker processes, the conversion is
            // nearly free.
            guard image.bands == 3, !rest.format.isEncodedByWorker, rest.steps.allSatisfy({ $0 is any PlaneStampStep })
            else { return nil }
        }
        return rest.format.encoding?.planes
    }
}
