/// A step that planes can do, too.
///
/// The planar lane does no step that does not conform: libvips does, and all that come after it.
protocol PlanarStep: RenderStep {
    /// What planes are resampled to when this step is done after those that led to `target`; nil when planes cannot do it there.
    func target(after target: PlanarTarget) -> PlanarTarget?
}
