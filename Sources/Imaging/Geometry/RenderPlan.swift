/// Everything that decides the pixels and bytes of a result, given the source.
///
/// The plan is the result cache's key beside the source's identity, so it is normal: wishes that lead to the same image make equal
/// plans.
package struct RenderPlan: Hashable, Sendable {
    /// What is decoded.
    package let decode: DecodePlan
    /// What comes in: a frame of the source, upright and as large as its header says.
    package private(set) var source: FrameShape
    /// What is done to the pixels, in this order.
    package private(set) var steps: RenderSteps
    /// The format of the result.
    package let format: ImageFormat
    /// Encoder quality, 1…100; 100 for formats without a choice of it.
    package let quality: Int

    /// A plan of these values.
    ///
    /// Steps before the first resample work on the source's own pixels, so only a plan that begins with one may have the source
    /// reduced while it is decoded.
    package init(
        decode: DecodePlan = DecodePlan(), source: FrameShape, steps: RenderSteps, format: ImageFormat, quality: Int
    ) {
        precondition(decode.level == 1 || steps.first is ResampleStep, "reduced pixels are resampled first")
        self.decode = decode
        self.source = source
        self.steps = steps
        self.format = format
        self.quality = quality
    }

    /// A plan that resamples the whole of an opaque image.
    package init(
        decode: DecodePlan = DecodePlan(), resizedSize: PixelSize, light: ResamplingLight = .gamma,
        format: ImageFormat, quality: Int
    ) {
        self.init(
            decode: decode, source: FrameShape(size: resizedSize, hasAlpha: false),
            steps: [ResampleStep(to: resizedSize, in: light)], format: format, quality: quality)
    }

    /// Size of the result, of one frame if animated.
    package var outputSize: PixelSize { steps.shape(after: source).size }

    /// Whether all frames are kept.
    package var isAnimated: Bool { decode.isAnimated }

    /// Pixels for one sample of chroma, as libvips writes them.
    var chromaStep: Int { quality >= format.writing?.fullChromaFrom ?? .max ? 1 : 2 }

    /// What is left to do when the first steps are done.
    func afterFirst(_ count: Int) -> RenderPlan {
        var rest = self
        rest.source = steps.prefix(count).reduce(source) { $1.shape(after: $0) }
        rest.steps.removeFirst(count)
        return rest
    }
}
