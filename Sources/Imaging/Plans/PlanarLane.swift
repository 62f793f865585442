/// The whole rule by which work is done on planes or by libvips.
///
/// It depends on the source's header and on the request, never on what is cached or how busy the service is: the same
/// source and parameters make the same bytes.
enum PlanarLane {
    /// Whether a source may be decoded to planes, as far as its header tells before a library has read it.
    static func mayDecode(_ header: ImageHeader, plan: DecodePlan) -> Bool {
        guard min(header.storedSize.width, header.storedSize.height) >= PlanarTarget.shortestSide * plan.level else {
            return false
        }
        return header.format.reading.planes?.mayHold(header) ?? false
    }

    /// The resampling that does as many of the first steps as planes can do, and the plan for libvips with the other
    /// steps.
    ///
    /// If the result is tiny or larger than the image, libvips does all steps, on the image in its decoded size.
    ///
    /// - Parameter needsPixels: Whether the result is pixels, whatever its format.
    static func part(
        of plan: RenderPlan, for image: DecodedImage, needsPixels: Bool = false
    ) -> (target: PlanarTarget, rest: RenderPlan) {
        let whole = PlanarTarget(of: image.size)
        // Filters are for planes that are encoded as they are.
        let isForPlanes = !needsPixels && image.bands == 3 && plan.format.writing?.planes != nil
        var start = whole
        start.takesFilters = isForPlanes
        // While a quality is searched, the planes are encoded more than once, and encoders may overwrite transparent
        // parts.
        start.takesAlpha = isForPlanes && plan.format.writing?.planes?.holdsAlpha == true && !plan.quality.isSearched
        var (target, count) = plan.steps.planarTarget(from: start)
        if isForPlanes, count < plan.steps.count { (target, count) = plan.steps.planarTarget(from: whole) }
        guard target.isWithinReach(of: image.size) else { return (whole, plan) }
        var rest = plan.afterFirst(count)
        // Of small results that are resampled alone, pixels of full chroma are made, and sharp chroma of these.
        rest.hasSharpChroma =
            isForPlanes && plan.outputSize.area <= plan.format.mostSharpPixels
            && plan.steps.planarTarget(from: whole).count == plan.steps.count
        return (target, rest)
    }

    /// The encoder for the resampled planes; nil if they must be converted to pixels.
    ///
    /// Steps for libvips, a profile of gray, and formats without an encoder for planes need pixels.
    static func encoder(for image: DecodedImage, rest: RenderPlan) -> PlaneEncoder? {
        guard image.bands == 3 || image.profile == nil, !rest.hasSharpChroma || rest.format.mostSharpPixels == 0 else {
            return nil
        }
        if !rest.steps.isEmpty {
            // A gray image may become one in color. Beside encoders in worker processes, the conversion costs next to
            // nothing.
            guard image.bands == 3, !rest.format.isEncodedInOneStep, rest.steps.allSatisfy({ $0 is any StampingStep })
            else { return nil }
        }
        return rest.format.writing?.planes
    }
}
