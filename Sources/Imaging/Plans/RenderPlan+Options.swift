extension RenderPlan {
    /// The plan for a caller's options, a source and an output format.
    ///
    /// - Parameters:
    ///   - light: What resampling averages, the same for all callers.
    ///   - efforts: The efforts of the encoders, the same for all callers.
    /// - Throws: ``ImagingError`` for a source, a page or a result that the limits or the output format exclude.
    package init(
        options: RenderingOptions, format: ImageFormat, source: ImageHeader, limits: ImagingLimits,
        light: ResamplingLight = .gamma, efforts: EncoderEfforts = EncoderEfforts()
    ) throws(ImagingError) {
        guard limits.sourceFormats.contains(source.format) else { throw .formatNotAccepted(source.format) }
        let isAnimated =
            options.isAnimated && source.frames > 1 && source.format.supportsAnimation && format.supportsAnimation
        let frames = isAnimated ? min(source.frames, limits.maximumFrames) : 1
        guard isAnimated || options.page < source.frames else {
            throw .noSuchPage(options.page, pages: source.frames)
        }
        try source.storedSize.check(frames: frames, maximumPixels: limits.maximumSourcePixels)
        guard source.decodedArea <= limits.maximumSourcePixels / frames else {
            throw .tooManyPixels(source.storedSize, frames: frames)
        }

        let layout = RenderLayout(options: options, source: source.size)
        self.init(
            decode: DecodePlan(
                page: isAnimated ? 0 : options.page, level: layout.level(source: source.size),
                isAnimated: frames > 1, mostFrames: limits.maximumFrames, incompleteImages: limits.incompleteImages),
            source: source.shape,
            steps: layout.steps(options: options, format: format, hasAlpha: source.hasAlpha, light: light),
            format: format,
            quality: format.hasQuality ? options.quality ?? format.defaultQuality : 100,
            effort: efforts[format])

        try outputSize.check(frames: frames, maximumPixels: limits.maximumOutputPixels)
        try outputSize.check(frames: 1, maximumPixels: limits.maximumFramePixels(of: format))
        guard max(outputSize.width, outputSize.height) <= format.maximumSide else {
            throw .sideTooLong(outputSize, format: format)
        }
        // The cropped part may be small although the image before the crop is large. A crop by position computes only its part; the
        // search for the most interesting part computes and keeps the whole image.
        let most = max(limits.maximumOutputPixels, source.storedSize.area * frames)
        for work in steps.work(on: self.source) {
            let size = work.output.size
            guard max(size.width, size.height) <= PixelSize.maximumSide, work.made <= most / frames else {
                throw .tooManyPixels(size, frames: frames)
            }
        }
    }
}

extension RenderLayout {
    /// The steps that make this layout.
    fileprivate func steps(
        options: RenderingOptions, format: ImageFormat, hasAlpha: Bool, light: ResamplingLight
    ) -> RenderSteps {
        var steps: RenderSteps = [ResampleStep(to: resizedSize, in: light)]
        if let crop = crop(by: options.gravity) { steps.append(crop) }
        let background = background(options.background, hasAlpha: hasAlpha, format: format)
        if let background { steps.append(BackgroundStep(background)) }
        if let canvas = canvas(by: options.gravity, color: background ?? .transparent) { steps.append(canvas) }
        return steps
    }

    /// The background, if any of it is visible; opaque if the format has no alpha.
    private func background(_ requested: Color?, hasAlpha: Bool, format: ImageFormat) -> Color? {
        guard hasAlpha || canvasSize != nil else { return nil }
        guard format.supportsAlpha else { return (requested ?? .white).composited(over: .white) }
        return requested?.alpha == 0 ? nil : requested
    }
}
