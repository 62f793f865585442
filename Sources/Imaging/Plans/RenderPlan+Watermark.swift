extension RenderPlan {
    /// Lays a watermark on the result, as the last step, and plans its decode as the next additional source.
    ///
    /// The level of its decode depends on sizes alone: that of the watermark, and that which it has on the result.
    ///
    /// - Parameters:
    ///   - options: How it is laid on the result.
    ///   - ratio: Device pixels per CSS pixel, in thousandths.
    ///   - header: The header of its file.
    ///   - limits: Bounds on sources.
    ///   - light: What resampling averages.
    /// - Throws: ``ImagingError`` for a watermark that the limits exclude.
    package mutating func append(
        watermark options: WatermarkOptions, ratio: Int, header: ImageHeader, limits: ImagingLimits,
        light: ResamplingLight
    ) throws(ImagingError) {
        let result = outputSize
        let scaled = OverlayLayout.scaledSize(of: header.size, scale: options.scale, ratio: ratio, result: result)
        let level = Self.level(of: header.size, for: scaled)
        additions.append(try DecodePlan(ofAddition: header, level: level, limits: limits))
        guard let layout = OverlayLayout(options, ratio: ratio, own: header.size, result: result) else { return }
        append(
            OverlayStep(
                of: additions.count - 1, layout: layout, decoded: header.shape.reduced(by: level),
                opacity: options.opacity, light: light))
    }

    /// The largest level that leaves at least twice the pixels of `scaled` on both sides.
    private static func level(of source: PixelSize, for scaled: PixelSize) -> Int {
        [8, 4, 2].first { level in
            source.width >= 2 * level * scaled.width && source.height >= 2 * level * scaled.height
        } ?? 1
    }
}
