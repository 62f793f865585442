/// The native operations that have numeric parameters, in the order in which they are applied.
///
/// An operation is a row here and a step that declares the parameters with their help and explanation.
package enum Operations {
    static let all: [any OperationStep.Type] = [ColorStep.self, GaussianStep.self, MosaicStep.self]

    package static let parameters = all.flatMap { $0.parameters }
}

package protocol OperationStep: RenderStep {
    static var parameters: [OperationParameter] { get }

    /// Whether the operation mixes adjacent pixels, so that bars around the image are added before it.
    static var mixesNeighbors: Bool { get }

    /// Returns the steps, in order.
    ///
    /// - Parameter ratio: Device pixels per CSS pixel, in thousandths.
    static func steps(_ numbers: OperationNumbers, ratio: Int) -> [any RenderStep]

    /// The numbers that result in this step at a device pixel ratio of 1; nil if there are none.
    var numbers: OperationNumbers? { get }
}

extension OperationStep {
    package static var mixesNeighbors: Bool { false }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        guard let numbers else { return nil }
        return Self.parameters.filter { numbers[$0] != $0.defaultValue }.map { ($0.name, $0.form.text(numbers[$0])) }
    }
}
