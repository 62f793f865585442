extension RenderPlan {
    /// The plan for a recipe, a source and its additional sources.
    ///
    /// - Parameters:
    ///   - options: The caller's options, of which only the recipe and ``RenderingOptions/keepsCopyright`` count.
    ///   - efforts: The efforts of the encoders, the same for all callers.
    /// - Throws: ``ImagingError`` for a source, a page or a result that the limits or the output format exclude.
    init(
        _ recipe: AnyRenderRecipe, options: RenderingOptions, source: RecipeSource, efforts: EncoderEfforts
    ) throws(ImagingError) {
        let (header, limits) = (source.header, source.limits)
        guard limits.sourceFormats.contains(header.format) else { throw .formatNotAccepted(header.format) }
        // The sides are bounded before anything is computed from them; those of a drawing are bounded by its header.
        if header.drawing == nil {
            try header.storedSize.check(frames: 1, maximumPixels: limits.maximumPixels(of: header))
        }
        let composition = try recipe.recipe.composition(of: source)
        let isAnimated =
            composition.frames > 1 && header.frames > 1 && composition.trim == nil
            && header.format.supportsAnimation && composition.keepsFrames
        guard composition.page < header.frames else {
            throw .noSuchPage(composition.page, pages: header.frames)
        }
        let mostFrames = min(composition.frames, limits.maximumFrames)
        let frames = isAnimated ? min(header.frames - composition.page, mostFrames) : 1
        let page = header.page(composition.page)
        let isDrawn = page.drawing != nil
        let mostPixels = limits.maximumPixels(of: page)
        if !isDrawn { try page.storedSize.check(frames: frames, maximumPixels: mostPixels) }
        let wanted = WantedPart(composition.part ?? ImagePart(allOf: page.size), turn: composition.turn)
        let isTrimmed = composition.trim != nil
        let drawing: (size: PixelSize, part: DrawnPart?)? =
            if !isDrawn { nil } else if isTrimmed { (page.size, nil) } else {
                try wanted.drawing(for: composition.size, maximumPixels: mostPixels)
            }
        let decode = DecodePlan(
            page: composition.page, level: isDrawn || isTrimmed ? 1 : composition.level(source: wanted.size),
            isAnimated: frames > 1, mostFrames: mostFrames, incompleteImages: limits.incompleteImages,
            drawnSize: drawing?.size, drawnPart: drawing?.part)
        try decode.check(header, limits: limits)
        let decoded = header.decoded(by: decode)
        self.init(
            decode: decode, source: decoded.shape,
            steps: composition.allSteps(of: wanted, isDrawnAlone: decode.drawnPart != nil),
            format: composition.format, quality: 100, effort: efforts[composition.format])
        if frames > 1 { timing = composition.timing }
        quality = composition.format.hasQuality ? composition.quality : .fixed(100)
        if options.keepsCopyright, format.writing?.attribute != nil { attribution = header.attribution }
        for (index, addition) in source.additions.enumerated() {
            let used = composition.additions.indices.contains(index) ? composition.additions[index] : nil
            additions.append(try DecodePlan(ofAddition: addition, level: used?.level ?? 1, limits: limits))
        }
        guard !isAnimated || format.supportsAnimation || outputSize.height <= format.maximumSide / frames else {
            throw .sideTooLong(outputSize, format: format)
        }
        if let trim = composition.trim { border = BorderTrim(trim, recipe, of: source) }
        try check(limits, frames: frames, most: decoded.storedSize.area)
    }
}

extension Composition {
    /// All steps, from the resample of the wanted part on.
    ///
    /// - Parameter isDrawnAlone: Whether the source is a drawing that shows the wanted part and no more.
    func allSteps(of wanted: WantedPart, isDrawnAlone: Bool = false) -> RenderSteps {
        let part = isDrawnAlone ? nil : wanted.part
        var all: RenderSteps = [ResampleStep(to: wanted.sizeBeforeTurn(size), of: part, in: light)]
        if wanted.turn != 1 { all.append(TurnStep(orientation: wanted.turn)) }
        for step in steps { all.append(step) }
        return all
    }

    /// Whether the format can hold several frames.
    ///
    /// Encoders that work in one step, in other processes, get no tall images.
    fileprivate var keepsFrames: Bool {
        format.supportsAnimation || stacksFrames && !format.isEncodedInOneStep
    }

    /// The largest level that leaves at least twice the pixels of the result on both sides, but for a rounded one.
    fileprivate func level(source: PixelSize) -> Int {
        [8, 4, 2].first { level in
            source.width > 2 * level * (size.width - 1) && source.height > 2 * level * (size.height - 1)
                && (source.width >= 2 * level * size.width || source.height >= 2 * level * size.height)
        } ?? 1
    }
}
