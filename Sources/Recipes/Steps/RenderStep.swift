/// One operation of a render on the pixels of each frame.
///
/// A step defines its effect on size and alpha, its cost, its cache key and its explanation. No other code in this
/// module knows the kinds of steps: a new kind is a file in this folder, and the code that adds it to a plan. `Imaging`
/// executes steps.
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

    /// Returns what the steps that led to `geometry` and this one do together; nil, the default, if this one does more
    /// than crop, resample and turn.
    func geometry(after geometry: StepGeometry) -> StepGeometry?
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

    package var readsRepeatedly: Bool { false }

    package func geometry(after geometry: StepGeometry) -> StepGeometry? { nil }

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

/// A crop whose position depends on the pixels.
package protocol ContentCropStep: RenderStep {
    func crop(left: Int, top: Int) -> CropStep
}

protocol AdditionStep: RenderStep {
    /// The form of the source; nil if the step overlays something else.
    var additionForm: AdditionForm? { get }
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
    package static let none = StepCost()
}

/// The sum of steps that only crop, resample and turn.
package struct StepGeometry {
    /// The part of the image to resample, in pixels of the source; nil for all of it.
    package var part: ImagePart?
    package var resizedSize: PixelSize
    package var rectangle: (x: Int, y: Int, size: PixelSize)
    /// The turn after resampling, from the EXIF orientation.
    package var turn = QuarterTurn.none
    package var light = ResamplingLight.gamma
    /// Whether nothing has been cropped, resampled or turned yet.
    package var isWhole = true

    package init(of size: PixelSize) {
        resizedSize = size
        rectangle = (0, 0, size)
    }

    /// Shortest side of an image and of a result that are resampled as planes, in pixels; below it, there are too few
    /// chroma samples for the filter.
    package static let shortestPlane = 16
}
