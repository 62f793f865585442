import Coordination
package import Recipes

package protocol VipsStep: RenderStep {
    var inDisplayP3: any RenderStep { get }

    /// Applies the step lazily.
    ///
    /// - Parameter context: The step's state, from the first frame to the last.
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

/// A step that planes support; libvips runs the first step that does not conform and all later ones.
protocol PlanarStep: RenderStep {
    /// Adds the step to a target; nil if planes cannot execute it there.
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
    /// Returns a target with as many leading steps as planes support, and their number.
    func planarTarget(from start: PlanarTarget) -> (target: PlanarTarget, count: Int) {
        var target = start
        var count = 0
        for step in self {
            guard let next = (step as? any PlanarStep)?.target(after: target) else { break }
            target = next
            count = count + 1
        }
        return (target, count)
    }
}

/// A step that can also run on finished planes, just before they are encoded.
protocol PlaneStampStep: RenderStep {
    func stamp(in range: PlaneRange, context: inout StepContext) throws -> PlaneStamp
}

/// The state of a step during a render, from the first frame to the last.
package struct StepContext {
    let token: WorkToken
    package let additions: [DecodedImage]
    private let cache: AdditionPixelCache
    private var decision: Any?

    init(token: WorkToken, additions: [DecodedImage] = [], cache: @escaping AdditionPixelCache = AdditionForm.uncached)
    {
        self.token = token
        self.additions = additions
        self.cache = cache
    }

    mutating func pixels(of addition: Int, in form: AdditionForm) throws -> DecodedImage {
        let image = additions[addition]
        return try onFirstFrame { [token, cache] in
            if form.matches(image) { return image }
            return try cache(addition, form) { try form.pixels(of: image, token: token) }
        }
    }

    func decision<Decision>(as kind: Decision.Type) -> Decision? { decision as? Decision }

    /// Returns the decision for the first frame, which applies to all frames.
    mutating func onFirstFrame<Decision>(_ decide: () throws -> Decision) rethrows -> Decision {
        if let decision = decision as? Decision { return decision }
        let first = try decide()
        decision = first
        return first
    }
}
