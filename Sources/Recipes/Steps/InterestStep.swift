/// Crops to the most interesting region; uses the first frame of an animation.
package struct InterestStep: ContentCropStep {
    package let measure: InterestMeasure
    package let size: PixelSize
    private static let time = (minimum: 20_000_000.0, read: 20.0, withAlpha: 60.0)
    /// The cost of the entropy of an image with alpha, for which libvips uses 65,536 bins.
    private static let fineCounting = (time: 130_000_000.0, bytes: 112 << 20)

    package init(_ measure: InterestMeasure, size: PixelSize) {
        self.measure = measure
        self.size = size
    }

    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: size, hasAlpha: input.hasAlpha) }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost {
        let isFine = measure == .entropy && work.input.hasAlpha
        let time = work.input.hasAlpha ? Self.time.withAlpha : Self.time.read
        return StepCost(
            once: Double(work.pixelsRead) * time + (isFine ? Self.fineCounting.time : Self.time.minimum),
            bytes: 4 * work.input.size.area + (isFine ? Self.fineCounting.bytes : 0))
    }

    package var keyText: String { "\(measure.rawValue) \(size.keyText)" }

    package var summary: String { "crop to the \(size) pixels of most \(measure.rawValue)" }

    package func parameters(on size: PixelSize) -> [StepParameter]? { [("gravity", measure.rawValue)] }

    package func crop(left: Int, top: Int) -> CropStep { CropStep(x: left, y: top, size: size) }
}
