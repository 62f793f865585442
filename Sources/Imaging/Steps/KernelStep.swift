/// A mix of each pixel with the eight around it.
///
/// The outermost pixels are repeated beyond the edges.
package struct KernelStep: Hashable {
    /// The way of mixing the nine pixels.
    package enum Kernel: String, Hashable, Sendable {
        /// Their mean.
        case mean
        /// The pixel, and a third of its difference from the mean of the others.
        case sharpen
    }

    /// The way of mixing the nine pixels.
    package let kernel: Kernel

    /// Nanoseconds of one core for each pixel; measured as ``TimePrice`` says.
    private static let time = 55.0

    /// A step that mixes by `kernel`.
    package init(_ kernel: Kernel) {
        self.kernel = kernel
    }
}

extension KernelStep: FilterStep {
    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String { "kernel \(kernel.rawValue)" }

    package var words: String {
        kernel == .mean ? "blur by the mean of nine pixels" : "sharpen by the nine pixels around each"
    }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let (middle, others) = kernel == .mean ? (1.0 / 9, 1.0 / 9) : (32.0 / 24, -1.0 / 24)
        return try image.mixedWithNeighbours(middle: middle, others: others)
    }
}
