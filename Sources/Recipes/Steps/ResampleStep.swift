package struct ResampleStep: RenderStep {
    package let size: PixelSize
    /// The region in pixels of the source, independent of the level; nil for the whole source.
    ///
    /// Pixels outside the region are not mixed in. libvips crops at the nearest pixel of the decoded image; planes are
    /// cropped at subpixels.
    package let region: ImageRegion?
    package let light: ResamplingLight
    private static let time = (read: 10.0, computed: 25.0)
    /// The factor for pixels with alpha or enlarged in linear light, for which libvips uses floating point.
    private static let weighting = 3.0
    /// The factor for opaque images enlarged in gamma-encoded values.
    private static let enlarging = 2.0
    private static let weighted = (bytes: 16, rows: 256)
    /// The time of reductions in linear light.
    private static let lightTime = (read: 5.0, computed: 25.0)

    package init(to size: PixelSize, of region: ImageRegion? = nil, in light: ResamplingLight = .gamma) {
        self.size = size
        self.region = region
        self.light = light
    }

    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: size, hasAlpha: input.hasAlpha) }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { read(of: input.size).area }

    package var readsRepeatedly: Bool { true }

    private func read(of input: PixelSize) -> PixelSize { region?.rounded(in: input).size ?? input }

    package func cost(of work: StepWork) -> StepCost {
        let source = read(of: work.input.size)
        guard source != size else { return .none }
        let isSmaller = size.width <= source.width && size.height <= source.height
        let isLight = light == .linear
        let time = isLight && isSmaller ? Self.lightTime : Self.time
        var weighting = 1.0
        let weightsAlpha = work.input.hasAlpha && !(isLight && isSmaller)
        if isLight, !isSmaller { weighting *= Self.weighting }
        if weightsAlpha { weighting *= Self.weighting }
        if !isLight, !isSmaller, !weightsAlpha { weighting *= Self.enlarging }
        // An enlargement keeps its input in memory; see `VipsImage.resampled(to:in:)`.
        let keptArea = work.keepsInput ? work.input.size.area : isSmaller ? 0 : source.area
        let kernelBytes = keptArea * (work.input.hasAlpha ? 4 : 3)
        let rows = weightsAlpha ? Self.weighted.bytes * source.width * min(source.height, Self.weighted.rows) : 0
        return StepCost(
            perFrame: (Double(work.pixelsRead) * time.read + Double(work.pixelsComputed) * time.computed) * weighting,
            bytes: kernelBytes + rows)
    }

    package var keyText: String {
        let region = region.map { " of \($0.x),\($0.y) \($0.size.keyText)" } ?? ""
        return "resample \(size.keyText) \(light.keyText)" + region
    }

    package var summary: String {
        let region = region.map { " the \($0.size) pixels at \($0.x), \($0.y)" } ?? ""
        return "resize\(region) to \(size) pixels" + (light == .linear ? " in linear light" : "")
    }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        let crop = region.map { ("crop", "\($0.x),\($0.y),\($0.size.width),\($0.size.height)") }
        return [("w", String(self.size.width))] + (crop.map { [$0] } ?? [])
    }

    package func geometry(after geometry: StepGeometry) -> StepGeometry? {
        guard geometry.isWhole else { return nil }
        var next = geometry
        next.resizedSize = size
        next.rectangle = PixelRectangle(size: size)
        next.light = light
        next.region = region
        next.isWhole = false
        return next
    }
}

extension ResamplingLight {
    fileprivate var keyText: String {
        switch self {
        // Versions: earlier ones resampled planes by zimg, and light by libvips in floating point.
        case .gamma: "gamma.2"
        case .linear: "linear.3"
        }
    }
}
