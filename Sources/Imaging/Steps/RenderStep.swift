import Coordination

/// One thing that a render does to the pixels of each frame.
///
/// A step says everything about itself: what it does to size and alpha, what it costs, how a result's key names it, and
/// how libvips does it. No other code knows the kinds of steps: a new kind is a file in this folder, and the code that
/// puts it into a plan. A step that another lane can do too conforms to that lane's protocol as well, such as
/// ``PlanarStep``.
package protocol RenderStep: Hashable, Sendable {
    /// The shape of a frame after this step.
    func shape(after input: FrameShape) -> FrameShape

    /// How many pixels of a frame of this shape the step reads to make `wanted` pixels of its result.
    ///
    /// Pixels are computed on demand: pixels that a later step crops cost nothing before it.
    func pixelsRead(of input: FrameShape, for wanted: Int) -> Int

    /// The time and memory that the step takes.
    func cost(of work: StepWork) -> StepCost

    /// The step's text in the key of a cached result: its kind and everything that decides its pixels.
    ///
    /// The text must not change, because it is part of the keys on disk. If the step makes other pixels, it gets
    /// another text.
    var keyText: String { get }

    /// The step in words, for people who check their URLs.
    var words: String { get }

    /// The effect on colors; ``StepColors/kept`` unless it says otherwise.
    var colors: StepColors { get }

    /// The step for pixels of Display P3: colors that it names, which are sRGB's, are the same ones there.
    var inDisplayP3: any RenderStep { get }

    /// The frame after this step, not computed yet.
    ///
    /// - Parameter context: The step's own context: what it keeps there for the first frame is there for the others.
    func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage
}

/// The effect of a step on colors.
package enum StepColors: Sendable {
    /// It moves, mixes or covers them, with colors that it may name.
    case kept
    /// It changes them, by numbers that mean sRGB.
    case changed
}

extension RenderStep {
    package var colors: StepColors { .kept }

    package var inDisplayP3: any RenderStep { self }

    /// Whether `other` is the same step with the same values.
    func isEqual(to other: any RenderStep) -> Bool {
        func isSame<Other: RenderStep>(_ other: Other) -> Bool {
            guard Other.self == Self.self else { return false }
            // The types are equal. Every hit in the result cache compares steps, and `as?` takes several times as long.
            return unsafe unsafeBitCast(other, to: Self.self) == self
        }
        return isSame(other)
    }
}

/// A step that keeps the shape of a frame, and reads the pixels that it makes.
package protocol FilterStep: RenderStep {}

extension FilterStep {
    package func shape(after input: FrameShape) -> FrameShape { input }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { wanted }
}

/// A step that keeps the shape of a frame, and always makes all of it.
package protocol WholeFrameStep: FilterStep {}

extension WholeFrameStep {
    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }
}

/// A step that the planar lane can do, too.
///
/// libvips does the first step that does not conform, and all steps after it.
protocol PlanarStep: RenderStep {
    /// The resampling for this step after those that led to `target`; nil if planes cannot do the step there.
    func target(after target: PlanarTarget) -> PlanarTarget?
}

/// A step that can also be done on the planes that all steps before it have made, right before they are encoded.
protocol StampingStep: RenderStep {
    /// The stamp that is laid on planes of this range.
    func stamp(in range: PlaneRange, context: inout StepContext) throws -> PlaneStamp
}

/// A step that cuts out a part of which only the pixels tell the place.
protocol SeekingStep: RenderStep {
    /// The crop to the part.
    ///
    /// - Parameter context: The step's context after a frame; nil before that, for a crop at the corner.
    func crop(found context: StepContext?) -> CropStep
}

/// A step that lays an additional source on the image.
protocol AdditionStep: RenderStep {
    /// The form of the source; nil if the step lays something else.
    var additionForm: AdditionForm? { get }
}

/// The tools of a step during one render.
///
/// Each step has its own context, from the first frame to the last.
package struct StepContext {
    /// Tells whether to stop; a step that computes pixels asks it.
    let token: WorkToken
    /// The pixels of the request's additional sources, in the order of ``RenderPlan/additions``.
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

    /// The pixels of an additional source in a form; made for the first frame and kept for the others.
    mutating func pixels(of addition: Int, in form: AdditionForm) throws -> DecodedImage {
        let (image, token, reuse) = (additions[addition], token, reuse)
        return try decided {
            if form.isForm(of: image) { return image }
            return try reuse(addition, form) { try form.pixels(of: image, token: token) }
        }
    }

    /// The result of the first call of ``decided(_:)``; nil before that.
    func decision<Decision>(as kind: Decision.Type) -> Decision? { decision as? Decision }

    /// The result of `decide` for the first frame, and the same value for all later frames.
    mutating func decided<Decision>(_ decide: () throws -> Decision) rethrows -> Decision {
        if let decision = decision as? Decision { return decision }
        let new = try decide()
        decision = new
        return new
    }
}

/// The work of a step on one frame.
package struct StepWork: Hashable, Sendable {
    /// The frame before the step.
    package let input: FrameShape
    /// The frame after the step.
    package let output: FrameShape
    /// Pixels of the input that the step reads.
    package internal(set) var read = 0
    /// Pixels of the output that later steps read.
    package internal(set) var made = 0
}

/// The time and memory that a step takes.
package struct StepCost: Hashable, Sendable {
    /// Nanoseconds of one core for each frame.
    package let perFrame: Double
    /// Nanoseconds of one core for all frames together.
    package let once: Double
    /// Bytes that the step holds besides its frame.
    package let bytes: Int

    /// A cost of these values.
    package init(perFrame: Double = 0, once: Double = 0, bytes: Int = 0) {
        self.perFrame = perFrame
        self.once = once
        self.bytes = bytes
    }

    /// A cost too small to count.
    static let none = StepCost()
}
