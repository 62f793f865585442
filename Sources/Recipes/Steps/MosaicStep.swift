/// Replaces each square of a grid, which starts at the top left, by its mean color.
package struct MosaicStep: Hashable {
    /// The side of a square in pixels, above 1.
    package let side: Int

    private static let time = 10.0

    package init(side: Int) { self.side = side }
}

extension OperationParameter {
    package static let pixelate = OperationParameter(
        "pixelate", .whole("PIXELS", 1...256), defaultValue: 1, help: "side of a block, 2 to 256")
}

extension MosaicStep: WholeFrameStep, OperationStep {
    package static var parameters: [OperationParameter] { [.pixelate] }

    package static var mixesNeighbors: Bool { true }

    package static func steps(_ numbers: OperationNumbers, ratio: Int) -> [any RenderStep] {
        let side = devicePixels(numbers[.pixelate], ratio: ratio)
        return numbers[.pixelate] > 1 && side > 1 ? [MosaicStep(side: side)] : []
    }

    package var numbers: OperationNumbers? { OperationNumbers(.pixelate, side) }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String { "pixelate \(side)" }

    package var summary: String { "pixelate to squares of \(side) pixels" }
}
