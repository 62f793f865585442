/// Which work is done on planes, and which by libvips: the whole rule.
///
/// It looks at the source's head and at the request, never at what is cached or how busy the service is, so that the same
/// source and parameters make the same bytes.
enum PlanarLane {
    /// Shortest side of a picture and of a result, in pixels: of a shorter one chroma has too few samples for the filter.
    static let shortestSide = 16

    /// Whether a source may be decoded to planes, as far as its head tells before a library has read it.
    static func mayDecode(_ header: ImageHeader, plan: DecodePlan) -> Bool {
        guard min(header.storedSize.width, header.storedSize.height) >= shortestSide * plan.level else { return false }
        return header.format.reading.planes?.mayHold(header) ?? false
    }

    /// What planes are resampled to, and what libvips has left to do after it: as many of the first steps as planes can do.
    ///
    /// None of them where the result is tiny or enlarges: that goes to libvips in its decoded size.
    static func part(of plan: RenderPlan, for image: DecodedImage) -> (target: PlanarTarget, rest: RenderPlan) {
        let whole = PlanarTarget(of: image.size)
        var (target, count) = (whole, 0)
        for step in plan.steps {
            guard let next = (step as? any PlanarStep)?.target(after: target) else { break }
            (target, count) = (next, count + 1)
        }
        let (resized, kept) = (target.resizedSize, target.rectangle.size)
        let isInReach =
            resized.width <= image.size.width && resized.height <= image.size.height
            && min(kept.width, kept.height) >= shortestSide
        return isInReach ? (target, plan.afterFirst(count)) : (whole, plan)
    }

    /// Whether the resampled planes are the result already, to be encoded as they are.
    ///
    /// What is left to do and a colour profile need pixels; so do PNG and GIF.
    static func encodes(_ image: DecodedImage, rest: RenderPlan) -> Bool {
        rest.steps.isEmpty && image.profile == nil && rest.format.isWrittenFromPlanes
    }
}
