import Coordination
import Imaging
import Measuring
import Memory
import Recipes
import TestSupport

/// A step on random pixels, measured as the difference between two renders: with the step and without it.
struct MeasuredStep {
    private let image: DecodedImage
    private let additions: [DecodedImage]
    private let steps: RenderSteps
    private let frame: FrameShape

    /// A step on an image of `size`.
    ///
    /// - Parameter bands: 3 or 4; nil for the planes of a JPEG image of twice the sides, which are resampled before the
    ///   step.
    init(_ step: SampleStep, on size: PixelSize, bands: Int?) throws {
        if let bands {
            image = DecodedImage(
                pixels: SharedBytes(SampleImage.noise(size, bands: bands).pixels), size: size, bands: bands)
        } else {
            let size = PixelSize(width: 2 * size.width, height: 2 * size.height)
            let file = SharedBytes(ImageFixture.file(.noise(size, bands: 3), as: .jpeg, quality: 80))
            image = try ImageDecoder.decode(
                file, header: .inspect(file), plan: DecodePlan(), limits: ImagingLimits(), token: WorkToken())
        }
        frame = FrameShape(size: image.size, hasAlpha: bands == 4)
        let first: RenderSteps = bands == nil ? [ResampleStep(to: size)] : []
        steps = RenderSteps(first + [step.step(on: FrameShape(size: size, hasAlpha: bands == 4))])
        additions = [step.addition(on: size)].compactMap(\.self).map { shape in
            let pixels = SampleImage.noise(shape.size, bands: 4).pixels
            return DecodedImage(pixels: SharedBytes(pixels), size: shape.size, bands: 4)
        }
    }

    /// The memory cost of a render with the step as a PNG file.
    var bytes: Int { plan(.png, steps).cost }

    /// Renders once with the step as a PNG file.
    func writeOnce() throws -> String {
        let file = try ImageRenderer.render(image, additions: additions, plan: plan(.png, steps), token: WorkToken())
        return "\(file.size), \(file.bytes.count) bytes"
    }

    /// The cost of the step, and the time that it takes: microseconds of a core, the median of several rounds.
    func time() throws -> (costed: Int, taken: Int) {
        // A format whose planes take all filters, and that another process writes.
        let format = additions.isEmpty && !frame.hasAlpha ? ImageFormat.avif : .jxl
        let (with, without) = (plan(format, steps), plan(format, RenderSteps(steps.dropLast())))
        var plain = without
        plain.additions = []
        let rounds = image.size.area < 1_000_000 ? 31 : 5
        var taken: [Double] = []
        for _ in 0..<rounds {
            let start = processMilliseconds()
            _ = try ImageRenderer.render(image, plan: plain, token: WorkToken(), codec: PixelSink())
            let middle = processMilliseconds()
            _ = try ImageRenderer.render(
                image, additions: additions, plan: with, token: WorkToken(), codec: PixelSink())
            taken.append(processMilliseconds() - middle - (middle - start))
        }
        taken.sort()
        let costed = Self.nanoseconds(of: with, on: frame) - Self.nanoseconds(of: without, on: frame)
        return (Int(costed / 1_000), Int(taken[rounds / 2] * 1_000))
    }

    private static func nanoseconds(of plan: RenderPlan, on frame: FrameShape) -> Double {
        plan.steps.costs(on: frame).reduce(0) { $0 + $1.perFrame + $1.once }
    }

    private func plan(_ format: ImageFormat, _ steps: RenderSteps) -> RenderPlan {
        let pixels = steps.shape(after: frame).size.area
        var plan = RenderPlan(
            source: frame, steps: steps, format: format, quality: format.encoderQuality(pixels: pixels))
        plan.additions = additions.map { _ in DecodePlan() }
        return plan
    }
}

/// Takes finished pixels and writes no file, so that only the steps are measured.
private struct PixelSink: ImageCodec {
    func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        try InProcessCodec().decode(bytes, header: header, plan: plan, limits: limits, token: token)
    }

    func encode(
        _ image: DecodedImage, as format: ImageFormat, settings: EncoderSettings, token: WorkToken
    ) throws -> SharedBytes { SharedBytes([]) }
}
