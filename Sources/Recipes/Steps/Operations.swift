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

    /// The numbers at a device pixel ratio of 1; nil if none give this step.
    var numbers: OperationNumbers? { get }
}

extension OperationStep {
    package static var mixesNeighbors: Bool { false }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        guard let numbers else { return nil }
        return Self.parameters.filter { numbers[$0] != $0.defaultValue }.map { ($0.name, $0.form.text(numbers[$0])) }
    }
}

extension OperationParameter {
    package static let pixelate = OperationParameter(
        "pixelate", .whole("PIXELS", 1...256), defaultValue: 1, "side of a block, 2 to 256")
}
