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
        var watermark = PlannedWatermark(
            options: options, ratio: ratio, addition: additions.count, own: header.size, decoded: header.shape,
            light: light)
        if let drawing = header.drawing {
            // Fractions of a pixel count for the proportion.
            if options.scale != nil { watermark.own = drawing }
            let decode = try watermark.drawing(
                of: header, on: outputSize, isFinal: border == nil, limits: limits)
            additions.append(decode)
            watermark.decoded = header.decoded(by: decode).shape
            watermark.isDrawnAlone = decode.drawnPart != nil
        } else {
            // Before a trim, the size of the result is not known.
            let level = border == nil ? Self.level(of: header.size, for: watermark.scaledSize(on: outputSize)) : 1
            additions.append(try DecodePlan(ofAddition: header, level: level, limits: limits))
            watermark.decoded = watermark.decoded.reduced(by: level)
        }
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
    var own: PixelSize
    /// A frame of its decoded source.
    var decoded: FrameShape
    /// Whether the decoded source is that part of a drawing which is seen.
    var isDrawnAlone = false
    let light: ResamplingLight

    /// Where it lies on a result of this size; nil if outside.
    func layout(on result: PixelSize) -> OverlayLayout? {
        let layout = OverlayLayout(options, ratio: ratio, own: own, result: result)
        return isDrawnAlone ? layout?.covering : layout
    }

    /// The size of the whole watermark on a result of this size.
    func scaledSize(on result: PixelSize) -> PixelSize {
        OverlayLayout.scaledSize(of: own, scale: options.scale, ratio: ratio, result: result)
    }

    /// The decode of a watermark of shapes, in the size that it has on the result.
    ///
    /// If a drawing of all of it would be too large, the part that is seen is drawn alone.
    ///
    /// - Parameter isFinal: Whether the result has this size; false before a trim.
    /// - Throws: ``ImagingError`` for a watermark that the limits exclude.
    fileprivate func drawing(
        of header: ImageHeader, on result: PixelSize, isFinal: Bool, limits: ImagingLimits
    ) throws(ImagingError) -> DecodePlan {
        let scaled = scaledSize(on: result)
        let isTooLarge =
            scaled.area > limits.maximumPixels(of: header)
            || max(scaled.width, scaled.height) > header.format.maximumSide
        guard isFinal, isTooLarge, max(scaled.width, scaled.height) <= PixelSize.maximumSide,
            let layout = layout(on: result), !layout.isWrapped
        else { return try DecodePlan(ofAddition: header, drawnSize: scaled, limits: limits) }
        let part = DrawnPart(
            of: ImagePart(allOf: header.size), scaledTo: scaled, x: layout.firstColumn, y: layout.firstRow)
        return try DecodePlan(ofAddition: header, drawnSize: layout.coveredSize, drawnPart: part, limits: limits)
    }

    /// The text in the key of a result: all that decides the layout once the size is known.
    var keyText: String {
        let place = options.isTiled ? "tiles" : options.position.keyText
        let scale = options.scale.map(String.init) ?? "own"
        return
            "watermark \(addition) \(own.width)x\(own.height) \(place) \(options.x),\(options.y) \(scale) \(ratio) \(options.opacity)"
    }
}
