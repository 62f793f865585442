/// Mixes each pixel with its eight neighbors; edge pixels are repeated.
package struct KernelStep: FilterStep {
    package enum Kernel: String, Hashable, Sendable {
        case mean
        /// The pixel plus a third of its difference from the mean of its neighbors.
        case sharpen
    }

    package let kernel: Kernel
    private static let time = 55.0

    package init(_ kernel: Kernel) { self.kernel = kernel }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String { "kernel \(kernel.rawValue)" }

    package var summary: String {
        kernel == .mean ? "blur by the mean of nine pixels" : "sharpen by the nine pixels around each"
    }
}
