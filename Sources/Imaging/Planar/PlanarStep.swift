/// A step that the planar lane can do, too.
///
/// libvips does the first step that does not conform, and all steps after it.
protocol PlanarStep: RenderStep {
    /// The resampling for this step after those that led to `target`; nil if planes cannot do the step there.
    func target(after target: PlanarTarget) -> PlanarTarget?
}
