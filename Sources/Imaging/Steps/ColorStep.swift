import Glibc

/// The filter functions of CSS Filter Effects 1, on sRGB components; alpha does not change.
package struct ColorStep: Hashable {
    /// The filters, at least one of which has an effect.
    package let filters: OperationNumbers

    /// Nanoseconds per pixel; see ``TimeCost``.
    private static let time = 8.0

    package init(_ filters: OperationNumbers) {
        self.filters = filters
    }
}

extension OperationParameter {
    private static let strength = "0 to 400; 100 changes nothing"

    package static let brightness = OperationParameter("brightness", .percent(to: 400), standard: 100, strength)
    package static let contrast = OperationParameter("contrast", .percent(to: 400), standard: 100, strength)
    package static let saturation = OperationParameter("saturate", .percent(to: 400), standard: 100, strength)
    package static let hue = OperationParameter("hue", .whole("DEGREES", 0...359), "turn all colors, 0 to 359")
    package static let grayscale = OperationParameter("grayscale", .percent(to: 100), "0 to 100")
    package static let sepia = OperationParameter("sepia", .percent(to: 100), "0 to 100")
    package static let inversion = OperationParameter("invert", .percent(to: 100), "0 to 100")
}

extension ColorStep: WholeFrameStep, OperationStep {
    package static let parameters: [OperationParameter] = [
        .brightness, .contrast, .saturation, .hue, .grayscale, .sepia, .inversion,
    ]

    package static func steps(_ numbers: OperationNumbers, ratio: Int) -> [any RenderStep] {
        numbers.contains(parameters) ? [ColorStep(numbers.only(parameters))] : []
    }

    package var numbers: OperationNumbers? { filters }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String {
        "colors " + Self.parameters.map { String(filters[$0]) }.joined(separator: " ")
    }

    package var words: String {
        let names = ["brightness", "contrast", "saturation", "hue", "greyscale", "sepia", "inversion"]
        let used = zip(names, Self.parameters).filter { filters[$1] != $1.standard }
        return "change colors: "
            + used.map { "\($0) \(filters[$1])\($1 == .hue ? "°" : " %")" }.joined(separator: ", ")
    }

    package var colors: StepColors { .changed }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        // The other matrices do not change gray.
        let image = try filters[.sepia] > 0 ? image.inColor() : image
        return try image.colored(by: ColorChange(filters), token: context.token)
    }
}

extension ColorStep: PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? { target.filtered(by: .colors(ColorChange(filters))) }
}

extension StepCost {
    /// Returns the cost of an operation on whole frames, during which the input and output frames are in memory.
    ///
    /// - Parameters:
    ///   - time: Nanoseconds per output pixel.
    ///   - bytes: Bytes per input pixel, besides the frames.
    static func filtering(_ work: StepWork, time: Double, bytes: Int = 0) -> StepCost {
        let (input, output) = (work.input.size.area, work.output.size.area)
        return StepCost(perFrame: Double(output) * time, bytes: input * (4 + bytes) + output * 4)
    }
}

extension ColorChange {
    init(_ filters: OperationNumbers) {
        self.init()
        if filters[.brightness] != 100 { append(Scale(factor: Double(filters[.brightness]) / 100)) }
        if filters[.contrast] != 100 {
            let contrast = Double(filters[.contrast]) / 100
            append(Scale(factor: contrast, offset: 127.5 * (1 - contrast)))
        }
        if filters[.saturation] != 100 { append(.saturation(Double(filters[.saturation]) / 100)) }
        if filters[.hue] != 0 { append(.hue(Double(filters[.hue]) * .pi / 180)) }
        if filters[.grayscale] != 0 { append(.grayscale(Double(filters[.grayscale]) / 100)) }
        if filters[.sepia] != 0 { append(.sepia(Double(filters[.sepia]) / 100)) }
        if filters[.inversion] != 0 {
            let inversion = Double(filters[.inversion]) / 100
            append(Scale(factor: 1 - 2 * inversion, offset: 255 * inversion))
        }
    }
}

extension ColorChange.Matrix {
    fileprivate static func saturation(_ amount: Double) -> Self {
        mixed([0.213, 0.715, 0.072, 0.213, 0.715, 0.072, 0.213, 0.715, 0.072], share: 1 - amount)
    }

    fileprivate static func grayscale(_ amount: Double) -> Self {
        mixed([0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722], share: amount)
    }

    fileprivate static func sepia(_ amount: Double) -> Self {
        mixed([0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131], share: amount)
    }

    fileprivate static func hue(_ angle: Double) -> Self {
        let constant = [0.213, 0.715, 0.072, 0.213, 0.715, 0.072, 0.213, 0.715, 0.072]
        let byCosine = [0.787, -0.715, -0.072, -0.213, 0.285, -0.072, -0.213, -0.715, 0.928]
        let bySine = [-0.213, -0.715, 0.928, 0.143, 0.140, -0.283, -0.787, 0.715, 0.072]
        return Self(factors: (0..<9).map { constant[$0] + cos(angle) * byCosine[$0] + sin(angle) * bySine[$0] })
    }

    /// Mixes `share` of these factors with the unchanged component.
    private static func mixed(_ factors: [Double], share: Double) -> Self {
        Self(factors: (0..<9).map { factors[$0] * share + ($0 % 4 == 0 ? 1 - share : 0) })
    }
}
