import Coordination
package import Recipes

/// A step as libvips does it.
///
/// Every kind of step conforms.
package protocol VipsStep: RenderStep {
    /// The step for Display P3 pixels, with its sRGB colors converted.
    var inDisplayP3: any RenderStep { get }

    /// Returns the frame after this step, computed lazily.
    ///
    /// - Parameter context: The step's own context, which persists from the first frame to the last.
    func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage
}

extension VipsStep {
    package var inDisplayP3: any RenderStep { self }
}

extension RenderStep {
    var vipsStep: any VipsStep {
        guard let step = self as? any VipsStep else { preconditionFailure("\(Self.self) is no VipsStep") }
        return step
    }
}

/// A step that the planar lane supports.
///
/// libvips runs the first step that does not conform, and all steps after it.
protocol PlanarStep: RenderStep {
    /// Returns the target of this step after the steps that led to `target`; nil if planes cannot do the step there.
    func target(after target: PlanarTarget) -> PlanarTarget?
}

extension PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? {
        guard target.filters.isEmpty, let geometry = geometry(after: target.geometry) else { return nil }
        var next = target
        next.geometry = geometry
        return next
    }
}

extension RenderSteps {
    /// Returns the target for as many leading steps as planes support, and their number.
    func planarTarget(from start: PlanarTarget) -> (target: PlanarTarget, count: Int) {
        var (target, count) = (start, 0)
        for step in self {
            guard let next = (step as? any PlanarStep)?.target(after: target) else { break }
            (target, count) = (next, count + 1)
        }
        return (target, count)
    }
}

/// A step that can also run on the finished planes, just before they are encoded.
protocol StampingStep: RenderStep {
    func stamp(in range: PlaneRange, context: inout StepContext) throws -> PlaneStamp
}

/// The context of one step during one render.
///
/// It persists from the first frame to the last.
package struct StepContext {
    /// Reports cancellation; steps that compute pixels check it.
    let token: WorkToken
    /// The pixels of the additional sources, in the order of ``RenderPlan/additions``.
    package let additions: [DecodedImage]
    private let reuse: AdditionFormReuse
    private var decision: Any?

    init(
        token: WorkToken, additions: [DecodedImage] = [],
        reuse: @escaping AdditionFormReuse = AdditionForm.made
    ) {
        self.token = token
        self.additions = additions
        self.reuse = reuse
    }

    /// Returns an additional source in a form, computed for the first frame and reused for later ones.
    mutating func pixels(of addition: Int, in form: AdditionForm) throws -> DecodedImage {
        let (image, token, reuse) = (additions[addition], token, reuse)
        return try decided {
            if form.isForm(of: image) { return image }
            return try reuse(addition, form) { try form.pixels(of: image, token: token) }
        }
    }

    /// The result of the first call of ``decided(_:)``; nil before that.
    func decision<Decision>(as kind: Decision.Type) -> Decision? { decision as? Decision }

    /// Returns the result of `decide` for the first frame, and the same value for all later frames.
    mutating func decided<Decision>(_ decide: () throws -> Decision) rethrows -> Decision {
        if let decision = decision as? Decision { return decision }
        let new = try decide()
        decision = new
        return new
    }
}
