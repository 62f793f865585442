import Coordination
package import Recipes

extension GaussianStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.gaussianFiltered(sigma: deviation, amount: factor, token: context.token)
    }
}

extension GaussianStep: PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? {
        target.filtered(by: .gaussian(deviation: deviation, amount: factor))
    }
}

extension MosaicStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.pixelated(side: side, token: context.token)
    }
}

extension RankStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        // libvips rejects squares that are larger than the image.
        let side = min(side, image.width, image.height)
        let index =
            switch rank {
            case .minimum: 0
            case .median: side * side / 2
            case .maximum: side * side - 1
            }
        image.watch(context.token)
        let image = try image.computed()
        try context.token.check()
        return try image.ranked(side: side, index: index)
    }
}

extension KernelStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let (middle, others) = kernel == .mean ? (1.0 / 9, 1.0 / 9) : (32.0 / 24, -1.0 / 24)
        return try image.mixedWithNeighbors(middle: middle, others: others)
    }
}

extension LightnessSharpenStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.inColor().keepingAlpha { colors throws(VipsError) in
            try colors.sharpenedLightness(sigma: Double(sigma), flat: Double(flat), jagged: Double(jagged))
        }
    }
}

extension ConvolutionStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.convolved(by: factors.map { Double($0) / 1_000_000 }, columns: columns, token: context.token)
    }
}
