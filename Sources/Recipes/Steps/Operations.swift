/// The operations of Alula's own grammar that numbers turn on, in the order in which they are applied.
///
/// An operation is a row here and a step, which declares its parameters, their help and explanation.
package enum Operations {
    static let all: [any OperationStep.Type] = [ColorStep.self, GaussianStep.self, MosaicStep.self]

    package static let parameters = all.flatMap { $0.parameters }
}

package protocol OperationStep: RenderStep {
    static var parameters: [OperationParameter] { get }

    /// Bars around the image are then added before it.
    static var mixesNeighbors: Bool { get }

    /// In order.
    ///
    /// - Parameter ratio: Device pixels per CSS pixel, in thousandths.
    static func steps(_ numbers: OperationNumbers, ratio: Int) -> [any RenderStep]

    /// At a device pixel ratio of 1; nil if no numbers give this step.
    var numbers: OperationNumbers? { get }
}

extension OperationStep {
    package static var mixesNeighbors: Bool { false }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        guard let numbers else { return nil }
        return Self.parameters.filter { numbers[$0] != $0.standard }.map { ($0.name, $0.form.text(numbers[$0])) }
    }
}

/// Each square of a grid from the top left becomes its mean.
package struct MosaicStep: Hashable {
    /// Of a square, in pixels, above 1.
    package let side: Int

    private static let time = 10.0

    package init(side: Int) { self.side = side }
}

extension OperationParameter {
    package static let pixelate = OperationParameter(
        "pixelate", .whole("PIXELS", 1...256), standard: 1, "side of a block, 2 to 256")
}

extension MosaicStep: WholeFrameStep, OperationStep {
    package static var parameters: [OperationParameter] { [.pixelate] }

    package static var mixesNeighbors: Bool { true }

    package static func steps(_ numbers: OperationNumbers, ratio: Int) -> [any RenderStep] {
        let side = devicePixels(numbers[.pixelate], ratio)
        return numbers[.pixelate] > 1 && side > 1 ? [MosaicStep(side: side)] : []
    }

    package var numbers: OperationNumbers? { OperationNumbers(.pixelate, side) }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String { "pixelate \(side)" }

    package var words: String { "pixelate to squares of \(side) pixels" }
}
