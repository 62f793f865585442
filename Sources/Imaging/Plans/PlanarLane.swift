/// The whole rule by which work is done on planes or by libvips.
///
/// It depends on the source's header and on the request, never on what is cached or how busy the service is: the same source and
/// parameters make the same bytes.
enum PlanarLane {
    /// Shortest side of an image and of a result, in pixels; a shorter side has too few chroma samples for the filter.
    static let shortestSide = 16

    /// Whether a source may be decoded to planes, as far as its header tells before a library has read it.
    static func mayDecode(_ header: ImageHeader, plan: DecodePlan) -> Bool {
        guard min(header.storedSize.width, header.storedSize.height) >= shortestSide * plan.level else { return false }
        return header.format.reading.planes?.mayHold(header) ?? false
    }

    /// The resampling that does as many of the first steps as planes can do, and the plan for libvips with the other steps.
    ///
    /// If the result is tiny or larger than the image, libvips does all steps, on the image in its decoded size.
    static func part(of plan: RenderPlan, for image: DecodedImage) -> (target: PlanarTarget, rest: RenderPlan) {
        let whole = PlanarTarget(of: image.size)
        // Filters are for sRGB, and for planes that are encoded as they are.
        let isForPlanes = image.bands == 3 && image.profile == nil && plan.format.writing?.planes != nil
        var start = whole
        start.takesFilters = isForPlanes
        // While a quality is searched, the planes are encoded more than once, and encoders may overwrite transparent parts.
        start.takesAlpha = isForPlanes && plan.format.writing?.planes?.holdsAlpha == true && !plan.quality.isSearched
        var (target, count) = Self.target(of: plan.steps, from: start)
        if isForPlanes, count < plan.steps.count { (target, count) = Self.target(of: plan.steps, from: whole) }
        let (resized, kept) = (target.resizedSize, target.rectangle.size)
        let source = target.part?.rounded(in: image.size).size ?? image.size
        let isInReach =
            resized.width <= source.width && resized.height <= source.height
            && min(kept.width, kept.height) >= shortestSide
        guard isInReach else { return (whole, plan) }
        var rest = plan.afterFirst(count)
        rest.hasSharpChroma = false
        return (target, rest)
    }

    /// The target for as many of the first steps as planes can do, and their number.
    private static func target(
        of steps: RenderSteps, from start: PlanarTarget
    ) -> (target: PlanarTarget, count: Int) {
        var (target, count) = (start, 0)
        for step in steps {
            guard let next = (step as? any PlanarStep)?.target(after: target) else { break }
            (target, count) = (next, count + 1)
        }
        return (target, count)
    }

    /// The encoder for the resampled planes; nil if they must be converted to pixels.
    ///
    /// Steps for libvips, a colour profile, and formats without an encoder for planes need pixels.
    static func encoder(for image: DecodedImage, rest: RenderPlan) -> PlaneEncoder? {
        guard image.profile == nil else { return nil }
        if !rest.steps.isEmpty {
            // A grey image may become one in colour. Beside encoders in worker processes, the conversion costs next to nothing.
            guard image.bands == 3, !rest.format.isEncodedInOneStep, rest.steps.allSatisfy({ $0 is any StampingStep })
            else { return nil }
        }
        return rest.format.writing?.planes
    }
}
