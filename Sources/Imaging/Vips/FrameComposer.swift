import Coordination

/// Does the steps of a render plan on one frame after the other; decisions for the first frame hold for all frames.
struct FrameComposer {
    private let plan: RenderPlan
    private var contexts: [StepContext]

    init(plan: RenderPlan, token: WorkToken) {
        self.plan = plan
        contexts = plan.steps.map { _ in StepContext(token: token) }
    }

    /// The finished frame, not computed yet.
    mutating func compose(_ source: VipsImage) throws -> VipsImage {
        var frame = source
        for (index, step) in plan.steps.enumerated() {
            frame = try step.applied(to: frame, in: &contexts[index])
        }
        if frame.hasAlpha, !plan.format.supportsAlpha { frame = try frame.flattenedInColor(on: .white) }
        guard frame.width == plan.outputSize.width, frame.height == plan.outputSize.height else {
            throw VipsError(text: "\(frame.width)×\(frame.height) instead of \(plan.outputSize)")
        }
        return frame
    }
}
