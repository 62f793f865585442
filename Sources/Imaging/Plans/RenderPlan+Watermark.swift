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
        let scaled = OverlayLayout.scaledSize(of: header.size, scale: options.scale, ratio: ratio, result: outputSize)
        // Before a trim, the size of the result is not known.
        let level = border == nil ? Self.level(of: header.size, for: scaled) : 1
        additions.append(try DecodePlan(ofAddition: header, level: level, limits: limits))
        let watermark = PlannedWatermark(
            options: options, ratio: ratio, addition: additions.count - 1, own: header.size,
            decoded: header.shape.reduced(by: level), light: light)
        lay(watermark)
        if border != nil { watermarks.append(watermark) }
    }

    /// Lays a watermark, whose decode is planned, on the result.
    mutating func lay(_ watermark: PlannedWatermark) {
        guard let layout = watermark.layout(on: outputSize) else { return }
        append(
            OverlayStep(
                of: watermark.addition, layout: layout, decoded: watermark.decoded,
                opacity: watermark.options.opacity, light: watermark.light))
    }

    /// The largest level that leaves at least twice the pixels of `scaled` on both sides.
    static func level(of source: PixelSize, for scaled: PixelSize) -> Int {
        [8, 4, 2].first { level in
            source.width >= 2 * level * scaled.width && source.height >= 2 * level * scaled.height
        } ?? 1
    }
}

/// A watermark of a plan whose result has another size once its border is known.
struct PlannedWatermark: Hashable, Sendable {
    let options: WatermarkOptions
    /// Device pixels per CSS pixel, in thousandths.
    let ratio: Int
    /// The place of its source in ``RenderPlan/additions``.
    let addition: Int
    /// The size of its source, upright.
    let own: PixelSize
    /// A frame of its decoded source.
    let decoded: FrameShape
    let light: ResamplingLight

    /// Where it lies on a result of this size; nil if outside.
    func layout(on result: PixelSize) -> OverlayLayout? {
        OverlayLayout(options, ratio: ratio, own: own, result: result)
    }

    /// The text in the key of a result: all that decides the layout once the size is known.
    var keyText: String {
        let place = options.isTiled ? "tiles" : options.position.keyText
        let scale = options.scale.map(String.init) ?? "own"
        return
            "watermark \(addition) \(own.width)x\(own.height) \(place) \(options.x),\(options.y) \(scale) \(ratio) \(options.opacity)"
    }
}
