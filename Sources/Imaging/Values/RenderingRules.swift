/// The choices of an operator that are the same for all requests and decide pixels, bytes and refusals.
package struct RenderingRules: Hashable, Sendable {
    /// Bounds on sources and results.
    package var limits = ImagingLimits()
    /// The amounts that resampling averages.
    package var light = ResamplingLight.gamma
    /// How much time encoders spend to make files small.
    package var efforts = EncoderEfforts()
    /// The goal of an automatic quality.
    package var similarity = SimilarityGoal()
    /// The formats that may be chosen by `Accept`, best first.
    package var automaticFormats: [ImageFormat] = [.webp]

    /// The defaults, but for the limits.
    package init(limits: ImagingLimits = ImagingLimits()) { self.limits = limits }
}
