/// One operation of a render on the pixels of each frame.
///
/// A new kind is a file in this folder and the code that adds it to a plan. Plans look only for crops, turns and
/// resampling among the kinds. `Imaging` executes steps.
package protocol RenderStep: Hashable, Sendable {
    func shape(after input: FrameShape) -> FrameShape

    /// Returns the number of input pixels to compute; pixels that a later step crops are not computed.
    func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int

    func cost(of work: StepWork) -> StepCost

    /// Whether the step reads each pixel several times; false by default.
    var readsRepeatedly: Bool { get }

    /// The kind of the step, and everything that affects its pixels.
    ///
    /// It is part of the keys on disk: change it if and only if the step produces different pixels.
    var keyText: String { get }

    /// A description for `alula explain`.
    var summary: String { get }

    /// Returns native parameters with the same effect on an image of this size; nil if there are none.
    func parameters(on size: PixelSize) -> [StepParameter]?

    var colors: StepColors { get }

    /// Adds the step to a geometry; nil, the default, if it does more than crop, resample and turn.
    func geometry(after geometry: StepGeometry) -> StepGeometry?
}

package typealias StepParameter = (name: String, value: String)

package enum StepColors: Sendable {
    /// The step moves, mixes or covers colors.
    case kept
    /// The step changes colors by numbers that assume sRGB.
    case changed
}

extension RenderStep {
    package var colors: StepColors { .kept }

    package func parameters(on size: PixelSize) -> [StepParameter]? { nil }

    package var readsRepeatedly: Bool { false }

    package func geometry(after geometry: StepGeometry) -> StepGeometry? { nil }

    func isEqual(to other: any RenderStep) -> Bool {
        func isSame<Other: RenderStep>(_ other: Other) -> Bool {
            guard Other.self == Self.self else { return false }
            // The types are equal. Each hit in the result cache compares steps, and `as?` takes several times as long.
            return unsafe unsafeBitCast(other, to: Self.self) == self
        }
        return isSame(other)
    }
}

package protocol FilterStep: RenderStep {}

extension FilterStep {
    package func shape(after input: FrameShape) -> FrameShape { input }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { outputPixels }
}

package protocol WholeFrameStep: FilterStep {}

extension WholeFrameStep {
    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { input.size.area }
}

package protocol ContentCropStep: RenderStep {
    func crop(left: Int, top: Int) -> CropStep
}

protocol AdditionStep: RenderStep {
    /// The scaled source that the step overlays; nil if it overlays something else.
    var additionForm: AdditionForm? { get }
}

package struct StepWork: Hashable, Sendable {
    package let input: FrameShape
    package let output: FrameShape
    package internal(set) var pixelsRead = 0
    package internal(set) var pixelsComputed = 0
    /// Whether to store the step's input, because earlier steps would otherwise compute pixels repeatedly.
    package internal(set) var keepsInput = false
}

package struct StepCost: Hashable, Sendable {
    /// Nanoseconds per frame.
    package var perFrame = 0.0
    /// Nanoseconds once for all frames.
    package var once = 0.0
    /// Bytes in addition to the frame.
    package var bytes = 0

    package static let none = StepCost()
}

package struct StepGeometry {
    /// The region in pixels of the source; nil for the whole source.
    package var region: ImageRegion?
    package var resizedSize: PixelSize
    /// The visible rectangle of the resized region.
    package var rectangle: PixelRectangle
    package var turn = QuarterTurn.none
    package var light = ResamplingLight.gamma
    package var isWhole = true

    package init(of size: PixelSize) {
        resizedSize = size
        rectangle = PixelRectangle(size: size)
    }

    /// The shortest side at which the chroma planes of an image can be resampled.
    package static let shortestPlane = 16
}
