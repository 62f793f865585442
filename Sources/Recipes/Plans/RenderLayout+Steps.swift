extension RenderLayout {
    /// Returns the steps after the resample, the turn and a crop, in the order of docs/operations.md.
    func steps(for options: RenderingOptions, format: ImageFormat, hasAlpha: Bool) -> RenderSteps {
        let operations = options.operations
        var steps: RenderSteps = []

        // Bars and corners stay transparent until the background is put behind the whole image. If no step mixes bars
        // with the image, they are added last, in the background color.
        var isTransparent = hasAlpha
        let mixesBars =
            operations.freeRotation != nil
            || Operations.all.contains { $0.mixesNeighbors && operations.numbers.contains($0.parameters) }
        let bars = canvas(by: options.gravity, color: .transparent)
        if let bars, mixesBars {
            steps.append(bars)
            isTransparent = true
        }
        if let degrees = operations.freeRotation {
            steps.append(RotationStep(degrees: degrees))
            isTransparent = true
        }
        for operation in Operations.all {
            for step in operation.steps(operations.numbers, ratio: options.devicePixelRatio) { steps.append(step) }
        }

        let margins = operations.pad.scaled(by: options.devicePixelRatio)
        let hasFrame = bars != nil && !mixesBars || margins != ImageOperations.Margins()
        let background = isTransparent || hasFrame ? visible(options.background, format: format) : nil
        if let background { steps.append(BackgroundStep(background)) }
        let frameColor = background ?? .transparent
        if !mixesBars, let canvas = canvas(by: options.gravity, color: frameColor) { steps.append(canvas) }
        if margins != ImageOperations.Margins() { steps.append(MarginStep(margins, color: frameColor)) }
        let outside = visible(options.background, format: format) ?? .transparent
        switch operations.radius {
        case .pixels(0): break
        case .pixels(let radius):
            steps.append(OutlineStep(.rounded(radius * options.devicePixelRatio), color: outside))
        case .maximum: steps.append(OutlineStep(.rounded(nil), color: outside))
        }
        if let mask = operations.mask { steps.append(OutlineStep(.mask(mask), color: outside)) }
        return steps
    }

    private func visible(_ requested: Color?, format: ImageFormat) -> Color? {
        guard format.supportsAlpha else { return (requested ?? .white).composited(over: .white) }
        return requested?.alpha == 0 ? nil : requested
    }
}

extension ImageOperations.Margins {
    fileprivate func scaled(by ratio: Int) -> Self {
        Self(
            top: devicePixels(top, ratio: ratio), right: devicePixels(right, ratio: ratio),
            bottom: devicePixels(bottom, ratio: ratio), left: devicePixels(left, ratio: ratio))
    }
}
