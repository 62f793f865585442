extension RenderPlan {
    /// The plan for a caller's options, a source and an output format.
    ///
    /// - Parameters:
    ///   - isFormatChosen: Whether the caller chose the format, so that a quality was meant for it.
    ///   - light: What resampling averages, the same for all callers.
    ///   - efforts: The efforts of the encoders, the same for all callers.
    ///   - similarity: What an automatic quality aims at, the same for all callers.
    ///   - additions: The headers of the request's additional sources; only a recipe asks for them.
    /// - Throws: ``ImagingError`` for a source, a page or a result that the limits or the output format exclude.
    package init(
        options: RenderingOptions, format: ImageFormat, isFormatChosen: Bool = false, source: ImageHeader,
        limits: ImagingLimits, light: ResamplingLight = .gamma, efforts: EncoderEfforts = EncoderEfforts(),
        similarity: SimilarityGoal = SimilarityGoal(), additions: [ImageHeader] = []
    ) throws(ImagingError) {
        if let recipe = options.recipe {
            let source = RecipeSource(header: source, additions: additions, limits: limits)
            try self.init(recipe, options: options, source: source, efforts: efforts)
            return
        }
        guard limits.sourceFormats.contains(source.format) else { throw .formatNotAccepted(source.format) }
        let isAnimated =
            options.isAnimated && options.operations.trim == nil && source.frames > 1
            && source.format.supportsAnimation && format.supportsAnimation
        let frames = isAnimated ? min(source.frames, limits.maximumFrames) : 1
        guard isAnimated || options.page < source.frames else {
            throw .noSuchPage(options.page, pages: source.frames)
        }
        let number = isAnimated ? 0 : options.page
        let page = source.page(number)
        let isDrawn = page.drawing != nil
        let mostPixels = limits.maximumPixels(of: page)
        // The sides are bounded before anything is computed from them; those of a drawing are bounded by its header.
        if !isDrawn { try page.storedSize.check(frames: frames, maximumPixels: mostPixels) }
        let border = BorderTrim(options, of: page, light: light, limits: limits)
        let wanted = try WantedPart(options.operations, of: ImagePart(allOf: page.size))
        let layout = RenderLayout(options: options, of: wanted, in: page)
        let drawing: (size: PixelSize, part: DrawnPart?)? =
            if !isDrawn { nil } else if border != nil { (page.size, nil) } else {
                try wanted.drawing(
                    for: layout.resizedSize, crop: layout.crop(by: options.gravity) as? CropStep,
                    maximumPixels: mostPixels)
            }
        let decode = DecodePlan(
            page: number, level: isDrawn || border != nil ? 1 : layout.level(source: wanted.size),
            isAnimated: frames > 1, mostFrames: limits.maximumFrames, incompleteImages: limits.incompleteImages,
            drawnSize: drawing?.size, drawnPart: drawing?.part)
        try decode.check(source, limits: limits)
        let source = source.decoded(by: decode)

        self.init(
            decode: decode, source: source.shape,
            steps: layout.steps(
                of: wanted, options: options, format: format, hasAlpha: source.hasAlpha, light: light,
                drawnAlone: decode.drawnPart == nil ? nil : source.size),
            format: format, quality: 100, effort: efforts[format])
        quality = options.quality(in: format, isFormatChosen: isFormatChosen, similarity: similarity)
        if options.keepsCopyright, format.writing?.attribute != nil { attribution = source.attribution }
        self.border = border
        try check(limits, frames: frames, most: source.storedSize.area)
    }

    /// Refuses a result or a size between two steps that the limits or the output format exclude.
    ///
    /// - Parameters:
    ///   - frames: The number of frames that are kept.
    ///   - area: Pixels of one frame of the source, which were accepted.
    func check(_ limits: ImagingLimits, frames: Int = 1, most area: Int) throws(ImagingError) {
        try outputSize.check(frames: frames, maximumPixels: limits.maximumOutputPixels)
        try outputSize.check(frames: 1, maximumPixels: limits.maximumFramePixels(of: format))
        guard max(outputSize.width, outputSize.height) <= format.maximumSide else {
            throw .sideTooLong(outputSize, format: format)
        }
        // The cropped part may be small although the image before the crop is large. A crop by position computes only its part; the
        // search for the most interesting part computes and keeps the whole image.
        let most = max(limits.maximumOutputPixels, area * frames)
        for work in steps.work(on: self.source) {
            let size = work.output.size
            guard max(size.width, size.height) <= PixelSize.maximumSide, work.made <= most / frames else {
                throw .tooManyPixels(size, frames: frames)
            }
        }
        try checkScales()
    }

    /// Refuses what libvips cannot resample: sides that are too long, and in stored numbers more than a million pixels to one.
    private func checkScales() throws(ImagingError) {
        let mostToOne = 1_000_000
        for (step, work) in zip(steps, steps.work(on: source)) {
            if let form = (step as? any AdditionStep)?.additionForm,
                max(form.scaledSize.width, form.scaledSize.height) > PixelSize.maximumSide
            {
                throw .tooManyPixels(form.scaledSize)
            }
            guard let resample = step as? ResampleStep, resample.light == .gamma else { continue }
            let input = resample.part?.size ?? work.input.size
            guard input.width / resample.size.width <= mostToOne, input.height / resample.size.height <= mostToOne
            else {
                throw .tooManyPixels(input)
            }
        }
    }
}

extension RenderingOptions {
    /// How the quality of a result in `format` is decided.
    fileprivate func quality(
        in format: ImageFormat, isFormatChosen: Bool, similarity: SimilarityGoal
    ) -> EncodingQuality {
        guard format.hasQuality else {
            return .fixed(format.hasPaletteQuality && isFormatChosen ? quality ?? 100 : 100)
        }
        if isQualityAutomatic { return .similar(similarity) }
        let quality = quality ?? format.defaultQuality
        return maximumBytes.map { .fitting(bytes: $0, highest: quality) } ?? .fixed(quality)
    }
}
