package struct GaussianStep: Hashable {
    package enum Kind: String, Sendable {
        case blur, sharpen
    }

    package let kind: Kind
    /// The standard deviation in hundred-thousandths of a pixel, above 0.
    package let sigma: Int
    /// The strength in percent; 100 for a blur.
    package let amount: Int

    /// Core time in nanoseconds; see ``TimeCost``.
    ///
    /// `frame` is per pixel. With a kernel, `deviation` is per pixel and `row` per row, times the standard deviation in
    /// pixels. With box filters, `boxes` is per addition. `alpha` and `sharpenedAlpha` are added per pixel if colors
    /// are weighted by alpha.
    private static let time = (frame: 8.0, deviation: 2.0, row: 36.0, boxes: 6.0, alpha: 8.0, sharpenedAlpha: 24.0)
    private static let minimumBoxes = 8.0
    /// The number of box filters, and their reach beyond the ends of a line in standard deviations.
    private static let boxes = (count: 4.0, reach: 3.5)

    package init(_ kind: Kind, sigma: Int, amount: Int = 100) {
        self.kind = kind
        self.sigma = sigma
        self.amount = kind == .blur ? 100 : amount
    }

    package var deviation: Double { Double(sigma) / 100_000 }
    package var factor: Float { kind == .blur ? -1 : Float(amount) / 100 }
}

extension OperationParameter {
    package static let blur = OperationParameter("blur", .deviation(30...10_000), help: "0.3 to 100 CSS pixels")
    package static let sharpen = OperationParameter("sharpen", .deviation(30...1_000), help: "0.3 to 10 CSS pixels")
}

extension GaussianStep: WholeFrameStep, OperationStep {
    package static var parameters: [OperationParameter] { [.blur, .sharpen] }

    package static var mixesNeighbors: Bool { true }

    package static func steps(_ numbers: OperationNumbers, ratio: Int) -> [any RenderStep] {
        // Hundredths of a CSS pixel times a ratio in thousandths.
        let blur = numbers[.blur] * ratio
        let sharpen = numbers[.sharpen] * ratio
        return (blur > 0 ? [GaussianStep(.blur, sigma: blur)] : [])
            + (sharpen > 0 ? [GaussianStep(.sharpen, sigma: sharpen)] : [])
    }

    package var numbers: OperationNumbers? {
        amount == 100 ? OperationNumbers(kind == .blur ? .blur : .sharpen, (sigma + 500) / 1_000) : nil
    }

    package func cost(of work: StepWork) -> StepCost {
        let size = work.input.size
        let weighting = !work.input.hasAlpha ? 0 : kind == .blur ? Self.time.alpha : Self.time.sharpenedAlpha
        let frameTime = Self.time.frame + weighting
        if deviation < Self.minimumBoxes {
            let weights = StepCost.filtering(work, time: frameTime + Self.time.deviation * deviation, bytes: 4)
            let rows = Double(size.height) * deviation * Self.time.row
            return StepCost(perFrame: weights.perFrame + rows, bytes: weights.bytes)
        }
        let frame = StepCost.filtering(work, time: frameTime, bytes: 4 * 4)
        let across = line(size.width)
        let down = line(size.height)
        let numbers = Double(size.height) * across.numbers + Double(size.width) * down.numbers
        // Lines that are computed together: a row, or a strip of columns.
        let strip = Double(min(4 * size.width, Self.strip))
        let lines = 2 * 4 * max(4 * across.length, strip * down.length)
        return StepCost(
            perFrame: frame.perFrame + numbers * Self.time.boxes, bytes: frame.bytes + Int(min(lines, 1e15)))
    }

    private static let strip = 96

    /// Returns the padded length of a line, and additions per pixel; short lines use one weight per pair of pixels.
    private func line(_ length: Int) -> (length: Double, numbers: Double) {
        let repeated = Double(length) + 2 * Self.boxes.reach * deviation
        let pairs = Double(length) * Double(length)
        let boxes = Self.boxes.count * repeated
        return pairs <= boxes ? (Double(length), pairs) : (repeated, boxes)
    }

    /// Has a version, because the first version also used box filters on short lines.
    package var keyText: String {
        "\(kind.rawValue)\(deviation < Self.minimumBoxes ? "" : ".2") \(sigma)" + (amount == 100 ? "" : " by \(amount)")
    }

    package var summary: String {
        let pixels = "with a deviation of \((deviation * 100).rounded() / 100) pixels"
        return kind == .blur ? "blur \(pixels)" : "sharpen \(pixels)" + (amount == 100 ? "" : ", \(amount) %")
    }
}
