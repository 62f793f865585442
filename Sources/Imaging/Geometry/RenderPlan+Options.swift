extension RenderPlan {
    /// The plan for a caller's wishes, a source and an output format.
    ///
    /// - Parameter light: What pixels are mixed by, the same for all callers.
    /// - Throws: ``ImagingError`` for a source, a page or a result that the limits or the output format exclude.
    package init(
        options: RenderingOptions, format: ImageFormat, source: ImageHeader, limits: ImagingLimits,
        light: ResamplingLight = .gamma
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

        let layout = Layout(options: options, source: source.size)
        self.init(
            decode: DecodePlan(
                page: isAnimated ? 0 : options.page, level: layout.level(source: source.size),
                isAnimated: frames > 1, mostFrames: limits.maximumFrames, incompleteImages: limits.incompleteImages),
            resizedSize: layout.resizedSize,
            light: light,
            crop: layout.crop(by: options.gravity),
            canvas: layout.canvas(by: options.gravity),
            background: RenderPlan.background(
                options.background, isVisible: source.hasAlpha || layout.canvasSize != nil, format: format),
            format: format,
            quality: format.hasQuality ? options.quality ?? format.defaultQuality : 100)

        try outputSize.check(frames: frames, maximumPixels: limits.maximumOutputPixels)
        try outputSize.check(frames: 1, maximumPixels: limits.maximumFramePixels(of: format))
        guard max(outputSize.width, outputSize.height) <= format.maximumSide else {
            throw .sideTooLong(outputSize, format: format)
        }
        // What a crop leaves may be small although the picture it is cut from is not.
        guard max(resizedSize.width, resizedSize.height) <= PixelSize.maximumSide else {
            throw .tooManyPixels(resizedSize, frames: frames)
        }
        // A rectangle is cut without computing the rest; to find the best part all of it is kept and looked at.
        switch crop {
        case .attention, .entropy:
            let most = max(limits.maximumOutputPixels, source.storedSize.area * frames)
            try resizedSize.check(frames: frames, maximumPixels: most)
        case .none, .rectangle: break
        }
    }

    /// What of a wished background can be seen at all.
    private static func background(_ wish: Color?, isVisible: Bool, format: ImageFormat) -> Color? {
        guard isVisible else { return nil }
        guard format.supportsAlpha else { return (wish ?? .white).composited(over: .white) }
        return wish?.alpha == 0 ? nil : wish
    }
}

extension PixelSize {
    /// Longest side that is worked with; libvips itself stops at 10 million.
    fileprivate static let maximumSide = 10_000_000

    fileprivate func check(frames: Int, maximumPixels: Int) throws(ImagingError) {
        guard width > 0, height > 0 else { throw .cannotDecode(detail: "a picture of \(self)") }
        guard max(width, height) <= PixelSize.maximumSide, area <= maximumPixels / frames else {
            throw .tooManyPixels(self, frames: frames)
        }
    }
}
