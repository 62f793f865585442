extension RenderingOptions: RenderRecipe {
    package var nativeOptions: RenderingOptions? { self }

    package func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        let (format, placement) = try chosenFormat(for: source)
        var image = try plannedImage(of: source, as: format, untrimmed: placement)
        if let watermark, let header = source.additions.first {
            // Before a trim, the result's size is unknown: plan the decode for the untrimmed image.
            let untrimmed =
                source.box == nil
                ? image : try plannedImage(of: source.with(box: nil), as: format, untrimmed: placement)
            let mark = PlacedWatermark(watermark, ratio: devicePixelRatio, header: header)
            let addition = mark.addition(on: untrimmed.size, isFinal: operations.trim == nil, limits: source.limits)
            image.use(0, addition: addition)
            if let layout = mark.layout(on: image.size, drawsOnlyRegion: addition.drawnRegion != nil) {
                image.apply(
                    OverlayStep(
                        of: 0, layout: layout, decoded: addition.decoded, opacity: watermark.opacity,
                        light: source.rules.light))
            }
        }
        return draft(of: image, as: format)
    }

    package func plannedImage(of source: RecipeSource, as format: ImageFormat) throws(ImagingError) -> PlannedImage {
        try plannedImage(of: source, as: format, untrimmed: nil)
    }

    /// - Parameter untrimmed: The placement of the untrimmed image, if already computed (see `chosenFormat`).
    private func plannedImage(
        of source: RecipeSource, as format: ImageFormat, untrimmed: Placement?
    ) throws(ImagingError) -> PlannedImage {
        let number = keepsFrames(of: source.header, in: format) ? 0 : page
        guard number < source.header.frames else { throw .noSuchPage(page, pages: source.header.frames) }
        var image = PlannedImage(source, page: number, light: source.rules.light, isTrimmed: operations.trim != nil)
        let box = source.whole(ofPage: number)
        let placement =
            if let untrimmed, source.box == nil { untrimmed } else { try self.placement(of: box, in: image.page) }
        let layout = placement.layout
        let region = placement.requestedRegion.region
        image.crop(CropStep(x: region.x - box.x, y: region.y - box.y, size: region.size))
        image.turn(placement.requestedRegion.turn)
        if gravity == .face, faceZoom > 0, fit == .cover {
            let factor = layout.enlargement(forZoom: faceZoom, of: image.size)
            let size = layout.cropSize ?? layout.resizedSize
            image.resample(to: layout.resizedSize.enlarged(by: factor))
            image.cropToFaces(size.enlarged(by: factor), zoom: faceZoom)
            image.apply(ResampleStep(to: size, in: source.rules.light))
        } else {
            image.resample(
                to: layout.resizedSize, deciding: layout.decidingSides, crop: layout.crop(by: gravity) as? CropStep)
            if let interest = layout.crop(by: gravity) as? InterestStep {
                if gravity == .face { image.cropToFaces(interest.size) } else { image.apply(interest) }
            }
        }
        for step in layout.steps(for: self, format: format, hasAlpha: image.hasAlpha) { image.apply(step) }
        return image
    }

    package func draft(of image: PlannedImage, as format: ImageFormat) -> RenderDraft {
        let source = image.source
        var draft = image.draft(as: format, quality: encodingQuality(by: source.rules))
        // Default qualities are visual qualities in all dialects.
        draft.qualityScale = quality == nil ? .visual : qualityScale
        draft.frames = keepsFrames(of: source.header, in: format) ? .max : 1
        draft.trim = operations.trim
        draft.mayGrowByTrim = enlarge || image.page.vectorSize != nil
        if format.hasPaletteQuality, self.format.isFixed { draft.paletteQuality = quality }
        draft.bitDepth = avifBitDepth
        draft.gamut = gamut
        draft.isLossless = isLossless
        draft.keepsCopyright = keepsCopyright
        draft.keptMetadata = keptMetadata
        draft.keepsGainMap = gainMap == .keep
        return draft
    }

    private func keepsFrames(of header: ImageHeader, in format: ImageFormat) -> Bool {
        keepsFrames(of: header) && format.supportsAnimation
    }

    private func keepsFrames(of header: ImageHeader) -> Bool {
        isAnimated && operations.trim == nil && header.frames > 1 && header.format.hasMovingFrames
    }

    /// Uses the untrimmed size, so that a trim does not change the format.
    private func chosenFormat(
        for source: RecipeSource
    ) throws(ImagingError) -> (format: ImageFormat, placement: Placement?) {
        if case .fixed(let format) = format { return (format, nil) }
        let header = source.header.page(page)
        let placement = try placement(of: ImageRegion(allOf: header.size), in: header)
        let chosen = format.format(
            from: header.format, hasAlpha: header.hasAlpha, pixels: placement.layout.outputSize.area,
            isMoving: keepsFrames(of: source.header), automatic: source.rules.automaticFormats,
            excluding: isLossless ? source.unsupportedFormats.union(ImageFormat.lossy) : source.unsupportedFormats)
        return (chosen, placement)
    }

    private struct Placement {
        let requestedRegion: RequestedRegion
        let layout: RenderLayout
    }

    private func placement(of box: ImageRegion, in page: ImageHeader) throws(ImagingError) -> Placement {
        let requestedRegion = try RequestedRegion(operations, of: box)
        return Placement(
            requestedRegion: requestedRegion, layout: RenderLayout(options: self, of: requestedRegion, in: page))
    }

    private func encodingQuality(by rules: RenderingRules) -> EncodingQuality {
        if isQualityAutomatic { return .similar(rules.similarity) }
        let quality = quality ?? rules.defaultQuality(ImageFormat.defaultVisualQuality)
        return maximumBytes.map { .fitting(bytes: $0, highest: quality) } ?? .fixed(quality)
    }

    package var keyText: String {
        func text(_ side: Int?) -> String { side.map(String.init) ?? "any" }
        return "box \(text(width))x\(text(height)) \(devicePixelRatio) \(fit.rawValue) \(enlarge) \(gravity.keyText) "
            + "\(background?.keyText ?? "none") \(operations.crop?.keyText ?? "all")"
            + (watermark.map { " \($0.keyText)" } ?? "") + (maximumArea.map { " area \($0)" } ?? "")
            + (multiple.map { " multiple \($0)" } ?? "") + (faceZoom > 0 ? " zoom \(faceZoom)" : "")
    }
}

private struct PlacedWatermark {
    private let options: WatermarkOptions
    /// Device pixels per CSS pixel, in thousandths.
    private let ratio: Int
    private let header: ImageHeader
    /// The source's size; for a vector image with fractions of a pixel, for the aspect ratio.
    private let sourceSize: PixelSize

    init(_ options: WatermarkOptions, ratio: Int, header: ImageHeader) {
        self.options = options
        self.ratio = ratio
        self.header = header
        sourceSize = options.scale == nil ? header.size : header.vectorSize ?? header.size
    }

    func layout(on result: PixelSize, drawsOnlyRegion: Bool) -> OverlayLayout? {
        let layout = OverlayLayout(options, ratio: ratio, sourceSize: sourceSize, result: result)
        return drawsOnlyRegion ? layout?.covering : layout
    }

    /// Returns the watermark; only its visible region if drawing a whole vector image takes too many pixels.
    ///
    /// - Parameter isFinal: Whether `result` is the final size; false before a trim.
    func addition(on result: PixelSize, isFinal: Bool, limits: ImagingLimits) -> RecipeAddition {
        let scaled = OverlayLayout.scaledSize(of: sourceSize, scale: options.scale, ratio: ratio, result: result)
        guard header.vectorSize != nil else { return RecipeAddition(header, scaledTo: scaled, isSizeFinal: isFinal) }
        let isTooLarge =
            scaled.area > limits.maximumPixels(of: header)
            || max(scaled.width, scaled.height) > header.format.maximumSide
        guard isFinal, isTooLarge, max(scaled.width, scaled.height) <= PixelSize.maximumSide,
            let layout = layout(on: result, drawsOnlyRegion: false), !layout.isWrapped
        else { return RecipeAddition(header, drawnIn: scaled, region: nil) }
        let region = DrawnRegion(
            of: ImageRegion(allOf: header.size), scaledTo: scaled, x: layout.firstColumn, y: layout.firstRow)
        return RecipeAddition(header, drawnIn: layout.coveredSize, region: region)
    }
}

extension WatermarkOptions {
    fileprivate var keyText: String {
        "watermark \(isTiled ? "tiles" : position.keyText) \(x),\(y) \(scale.map(String.init) ?? "own") \(opacity)"
    }
}

extension ImageOperations.Crop {
    fileprivate var keyText: String {
        switch self {
        case .pixels(let x, let y, let width, let height): "\(x),\(y) \(width)x\(height)"
        case .fractions(let x, let y, let width, let height): "\(x),\(y) \(width)x\(height) of 10000"
        }
    }
}

extension Gravity {
    fileprivate var keyText: String {
        switch self {
        case .center: "center"
        case .top: "top"
        case .topRight: "topRight"
        case .right: "right"
        case .bottomRight: "bottomRight"
        case .bottom: "bottom"
        case .bottomLeft: "bottomLeft"
        case .left: "left"
        case .topLeft: "topLeft"
        case .attention: "attention"
        case .entropy: "entropy"
        case .face: "face"
        case .focal(let x, let y): "focal(x: \(x), y: \(y))"
        }
    }
}
