/// The filter functions of CSS Filter Effects 1, on sRGB components without alpha.
package struct ColorStep: Hashable {
    package let filters: OperationNumbers
    private static let time = 8.0

    package init(_ filters: OperationNumbers) { self.filters = filters }
}

extension OperationParameter {
    private static let strength = "0 to 400; 100 changes nothing"

    package static let brightness = OperationParameter(
        "brightness", .percent(to: 400), defaultValue: 100, help: strength)
    package static let contrast = OperationParameter("contrast", .percent(to: 400), defaultValue: 100, help: strength)
    package static let saturation = OperationParameter("saturate", .percent(to: 400), defaultValue: 100, help: strength)
    package static let hue = OperationParameter("hue", .whole("DEGREES", 0...359), help: "turn all colors, 0 to 359")
    package static let grayscale = OperationParameter("grayscale", .percent(to: 100), help: "0 to 100")
    package static let sepia = OperationParameter("sepia", .percent(to: 100), help: "0 to 100")
    package static let inversion = OperationParameter("invert", .percent(to: 100), help: "0 to 100")
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

    package var keyText: String { "colors " + Self.parameters.map { String(filters[$0]) }.joined(separator: " ") }

    package var summary: String {
        let names = ["brightness", "contrast", "saturation", "hue", "greyscale", "sepia", "inversion"]
        let used = zip(names, Self.parameters).filter { filters[$1] != $1.defaultValue }
        return "change colors: " + used.map { "\($0) \(filters[$1])\($1 == .hue ? "°" : " %")" }.joined(separator: ", ")
    }

    package var colors: StepColors { .changed }
}

extension StepCost {
    /// Returns the cost of a step that keeps whole frames of input and output in memory.
    ///
    /// - Parameters:
    ///   - time: Nanoseconds per output pixel.
    ///   - bytes: Bytes per input pixel in addition to the frames.
    package static func filtering(_ work: StepWork, time: Double, bytes: Int = 0) -> StepCost {
        let input = work.input.size.area
        let output = work.output.size.area
        return StepCost(perFrame: Double(output) * time, bytes: input * (4 + bytes) + output * 4)
    }
}
