import Coordination

/// One operation of a render on the pixels of each frame.
///
/// A step is self-contained: it defines its effect on size and alpha, its cost, its cache key, and its libvips
/// implementation. No other code knows the kinds of steps: a new kind is a file in this folder, and the code that adds
/// it to a plan. A step that another lane supports also conforms to that lane's protocol, such as ``PlanarStep``.
package protocol RenderStep: Hashable, Sendable {
    func shape(after input: FrameShape) -> FrameShape

    /// Returns the number of input pixels that the step reads to compute `wanted` output pixels.
    ///
    /// Pixels are computed on demand: those that a later step crops cost nothing before it.
    func pixelsRead(of input: FrameShape, for wanted: Int) -> Int

    func cost(of work: StepWork) -> StepCost

    /// Whether the step reads pixels of its input repeatedly; false by default.
    var readsRepeatedly: Bool { get }

    /// The step's part of the cache key: its kind and everything that affects its pixels.
    ///
    /// The text must not change, because it is part of the keys on disk. If the step produces different pixels, it
    /// needs a new text.
    var keyText: String { get }

    /// A description for people who check their URLs.
    var words: String { get }

    /// Returns the parameters of `/thumbnail` with the same effect on an image of this size; nil if there are none.
    func parameters(on size: PixelSize) -> [StepParameter]?

    /// The effect on colors; ``StepColors/kept`` by default.
    var colors: StepColors { get }

    /// The step for Display P3 pixels, with its sRGB colors converted.
    var inDisplayP3: any RenderStep { get }

    /// Returns the frame after this step, computed lazily.
    ///
    /// - Parameter context: The step's own context, which persists from the first frame to the last.
    func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage
}

package typealias StepParameter = (name: String, value: String)

package enum StepColors: Sendable {
    /// Moves, mixes or covers colors; it may name some.
    case kept
    /// Changes colors by numbers that assume sRGB.
    case changed
}

extension RenderStep {
    package var colors: StepColors { .kept }

    package func parameters(on size: PixelSize) -> [StepParameter]? { nil }

    package var inDisplayP3: any RenderStep { self }

    package var readsRepeatedly: Bool { false }

    func isEqual(to other: any RenderStep) -> Bool {
        func isSame<Other: RenderStep>(_ other: Other) -> Bool {
            guard Other.self == Self.self else { return false }
            // The types are equal. Every hit in the result cache compares steps, and `as?` takes several times as long.
            return unsafe unsafeBitCast(other, to: Self.self) == self
        }
        return isSame(other)
    }
}

/// A step that keeps the shape of a frame and reads only the pixels that it computes.
package protocol FilterStep: RenderStep {}

extension FilterStep {
    package func shape(after input: FrameShape) -> FrameShape { input }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { wanted }
}

/// A step that keeps the shape of a frame and always computes the whole frame.
package protocol WholeFrameStep: FilterStep {}

extension WholeFrameStep {
    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }
}

/// A step that the planar lane supports.
///
/// libvips runs the first step that does not conform, and all steps after it.
protocol PlanarStep: RenderStep {
    /// Returns the target of this step after the steps that led to `target`; nil if planes cannot do the step there.
    func target(after target: PlanarTarget) -> PlanarTarget?
}

/// A step that can also run on the finished planes, just before they are encoded.
protocol StampingStep: RenderStep {
    func stamp(in range: PlaneRange, context: inout StepContext) throws -> PlaneStamp
}

/// A crop whose position depends on the pixels.
protocol ContentCropStep: RenderStep {
    /// Returns the crop.
    ///
    /// - Parameter context: The step's context after a frame; nil before that, for a crop at the corner.
    func crop(found context: StepContext?) -> CropStep
}

protocol AdditionStep: RenderStep {
    /// The form of the source; nil if the step overlays something else.
    var additionForm: AdditionForm? { get }
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

package struct StepWork: Hashable, Sendable {
    package let input: FrameShape
    package let output: FrameShape
    package internal(set) var read = 0
    /// Pixels of the output that later steps read.
    package internal(set) var made = 0
    /// Whether the input is computed in memory first: the step would have earlier steps compute pixels repeatedly.
    package internal(set) var keepsInput = false
}

package struct StepCost: Hashable, Sendable {
    /// Nanoseconds per frame.
    package let perFrame: Double
    /// Nanoseconds once for all frames.
    package let once: Double
    /// Bytes in use besides the frame.
    package let bytes: Int

    package init(perFrame: Double = 0, once: Double = 0, bytes: Int = 0) {
        self.perFrame = perFrame
        self.once = once
        self.bytes = bytes
    }

    /// A cost too small to count.
    static let none = StepCost()
}
