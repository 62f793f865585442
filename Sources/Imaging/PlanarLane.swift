import Recipes

/// Decides whether work is done on planes or by libvips.
///
/// Depends only on the source's header and the request, never on caches or load, so that the same source and parameters
/// always have the same bytes.
enum PlanarLane {
    static func mayDecode(_ header: ImageHeader, plan: DecodePlan) -> Bool {
        guard min(header.storedSize.width, header.storedSize.height) >= StepGeometry.shortestPlane * plan.level else {
            return false
        }
        return header.format.reading.mayHavePlanes(header)
    }

    /// Separates the leading steps that planes support from the plan for libvips.
    ///
    /// If the result is tiny or larger than the image, libvips runs all steps.
    ///
    /// - Parameter needsPixels: Whether the result must be pixels, regardless of its format.
    static func split(
        _ plan: RenderPlan, for image: DecodedImage, needsPixels: Bool = false
    ) -> (target: PlanarTarget, rest: RenderPlan) {
        let whole = PlanarTarget(of: image.size)
        // Filters can be applied to planes that are encoded directly; lossless encoders use pixels.
        let isForPlanes = !needsPixels && !plan.isLossless && image.bands == 3 && plan.format.encoding?.planes != nil
        var start = whole
        start.supportsFilters = isForPlanes
        // A quality search encodes the planes several times, but encoders may overwrite transparent parts.
        start.supportsAlphaPlane =
            isForPlanes && plan.format.encoding?.planes?.holdsAlpha == true && !plan.quality.isSearched
        var (target, count) = plan.steps.planarTarget(from: start)
        if isForPlanes, count < plan.steps.count { (target, count) = plan.steps.planarTarget(from: whole) }
        guard target.canResample(from: image.size) else { return (whole, plan) }
        var rest = plan.droppingFirstSteps(count)
        rest.hasSharpChroma = false
        target.hasSharpChroma =
            isForPlanes && plan.outputSize.area <= plan.format.maximumSharpPixels
            && plan.steps.planarTarget(from: whole).count == plan.steps.count
        return (target, rest)
    }

    /// Returns nil if planes must become pixels: for libvips' steps, a gray profile, or a format without planes.
    static func encoder(for image: DecodedImage, rest: RenderPlan) -> PlaneEncoder? {
        guard !rest.isLossless, image.bands == 3 || image.profile == nil else { return nil }
        if !rest.steps.isEmpty {
            // A gray image may become a color image. For encoders in worker processes, the conversion to pixels costs
            // comparatively nothing.
            guard image.bands == 3, !rest.format.isEncodedByWorker, rest.steps.allSatisfy({ $0 is any PlaneStampStep })
            else { return nil }
        }
        return rest.format.encoding?.planes
    }
}
