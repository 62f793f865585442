extension RenderPlan {
    /// Plans a recipe; if the chosen format cannot represent the result, the recipe chooses again.
    package init(_ recipe: AnyRenderRecipe, of source: RecipeSource) throws(ImagingError) {
        guard source.limits.sourceFormats.contains(source.header.format) else {
            throw .formatNotAccepted(source.header.format)
        }
        try source.checkSides()
        var source = source
        while true {
            let draft = try recipe.recipe.draft(of: source)
            do throws(ImagingError) {
                self = try RenderPlan(draft, by: recipe, of: source)
                return
            } catch {
                let isUnfit =
                    switch error {
                    case .sideTooLong(_, draft.format): true
                    case .tooManyPixels(let size, _):
                        !source.limits.allow(size, in: draft.format, isLossless: draft.isLossless)
                    default: false
                    }
                guard isUnfit, source.unsupportedFormats.insert(draft.format).inserted else { throw error }
            }
        }
    }

    private init(_ draft: RenderDraft, by recipe: AnyRenderRecipe, of source: RecipeSource) throws(ImagingError) {
        let header = source.header
        let limits = source.limits
        let (decode, steps, gamut) = try draft.decodeAndSteps(of: source)
        try decode.check(header, limits: limits)
        try header.checkTime(of: decode, limits: limits)
        let decoded = header.decoded(by: decode)
        let frames = decode.frames(of: header)
        self.init(
            decode: decode, source: decoded.shape, steps: steps, format: draft.format,
            quality: draft.paletteQuality ?? 100, effort: source.rules.efforts[draft.format])
        self.frames = max(1, frames)
        timing = frames > 1 ? draft.timing : nil
        self.gamut = gamut
        setEncoding(of: draft)
        setMetadata(of: draft, from: source, attribution: decoded.attribution)
        additions = try draft.plannedAdditions(of: source)
        isStacked = draft.isAnimated(from: header) && draft.stacksFrames && !format.isCommonAnimation
        if isStacked, outputSize.height > format.maximumSide / frames { throw .sideTooLong(outputSize, format: format) }
        border = draft.trim.map { BorderTrim($0, recipe: recipe, of: source, mayGrow: draft.mayGrowByTrim) }
        try check(limits, frames: frames, maximum: decoded.storedSize.area)
    }

    private mutating func setEncoding(of draft: RenderDraft) {
        isDataURL = draft.isDataURL
        if draft.isLossless, format.isLosslessByChoice {
            isLossless = true
            quality = .fixed(100)
        } else if format.hasQuality {
            set(draft.quality, in: draft.qualityScale)
        }
        if frames == 1, let depth = draft.bitDepth, format.bitDepths.contains(depth) { bitDepth = depth }
    }

    private mutating func setMetadata(
        of draft: RenderDraft, from source: RecipeSource, attribution: Attribution?
    ) {
        if draft.keepsCopyright, format.writing?.holdsEXIF == true { self.attribution = attribution }
        if format.writing?.holdsPacket == true {
            rights = source.header.rights?.only(draft.keptMetadata ?? source.rules.keptMetadata)
        }
    }

    private mutating func set(_ quality: EncodingQuality, in scale: QualityScale) {
        self.quality = quality
        qualityScale = format.writing?.quality?.isIdentity ?? true ? .encoder : scale
        if case .fixed(let quality) = quality {
            self.quality = .fixed(encoderQuality(for: quality))
            qualityScale = .encoder
        }
    }

    /// - Parameter area: Pixels of one source frame, already within the limits.
    func check(_ limits: ImagingLimits, frames: Int = 1, maximum area: Int) throws(ImagingError) {
        try outputSize.check(frames: frames, maximumPixels: limits.maximumOutputPixels)
        try outputSize.check(frames: 1, maximumPixels: limits.maximumFramePixels(of: format, isLossless: isLossless))
        guard max(outputSize.width, outputSize.height) <= format.maximumSide else {
            throw .sideTooLong(outputSize, format: format)
        }
        // The result of a crop may be small although the image before it is large. A crop by position computes only
        // its region; the search for the most interesting region computes and keeps the whole image.
        let maximum = max(limits.maximumOutputPixels, area * frames)
        for work in steps.work(on: self.source) {
            let size = work.output.size
            guard max(size.width, size.height) <= PixelSize.maximumSide, work.pixelsComputed <= maximum / frames else {
                throw .tooManyPixels(size, frames: frames)
            }
        }
        try checkScales()
        // Steps below the threshold of expensive work are never rejected.
        guard stepsTime(frames: frames) <= max(limits.longestSteps, TimeCost.expensive) else {
            throw .tooMuchWork(outputSize)
        }
    }

    /// Rejects what libvips cannot resample: overlong sides and, in gamma light, factors above a million.
    private func checkScales() throws(ImagingError) {
        let maximumToOne = 1_000_000
        for (step, work) in zip(steps, steps.work(on: source)) {
            if let form = (step as? any AdditionStep)?.additionForm,
                max(form.scaledSize.width, form.scaledSize.height) > PixelSize.maximumSide
            {
                throw .tooManyPixels(form.scaledSize)
            }
            guard let resample = step as? ResampleStep, resample.light == .gamma else { continue }
            let input = resample.region?.size ?? work.input.size
            let reduction = max(input.width / resample.size.width, input.height / resample.size.height)
            guard reduction <= maximumToOne else { throw .tooManyPixels(input) }
        }
    }
}

extension GainMap {
    /// Returns whether the limits allow the map; otherwise it is dropped, and the image is still rendered.
    fileprivate func isWithin(_ limits: ImagingLimits) -> Bool {
        (try? DecodePlan().check(header, limits: limits)) != nil
    }
}

extension RecipeSource {
    /// Checks sizes; of a document, only the requested page must be within the limits.
    fileprivate func checkSides() throws(ImagingError) {
        if header.pages.isEmpty, header.vectorSize == nil {
            try header.storedSize.check(frames: 1, maximumPixels: limits.maximumPixels(of: header))
        }
        for (index, addition) in additions.enumerated() where addition.vectorSize == nil {
            _ = try DecodePlan(ofAddition: addition, used: nil, number: index, limits: limits)
        }
    }
}

extension RenderDraft {
    fileprivate func decodeAndSteps(
        of source: RecipeSource
    ) throws(ImagingError) -> (decode: DecodePlan, steps: RenderSteps, gamut: Gamut) {
        let header = source.header
        let limits = source.limits
        guard page < header.frames else { throw .noSuchPage(page, pages: header.frames) }
        let maximumFrames = min(frames, limits.maximumFrames)
        let decodedFrames = isAnimated(from: header) ? min(header.frames - page, maximumFrames) : 1
        let pageHeader = header.page(page)
        let maximumPixels = limits.maximumPixels(of: pageHeader)
        if pageHeader.vectorSize == nil {
            try pageHeader.storedSize.check(frames: decodedFrames, maximumPixels: maximumPixels)
        }
        let requestedRegion = RequestedRegion(region ?? ImageRegion(allOf: pageHeader.size), turn: turn)
        let drawing = try firstDrawing(of: requestedRegion, on: pageHeader, maximumPixels: maximumPixels)
        let steps = allSteps(of: requestedRegion, drawing: drawing)
        let requestedGamut = format.holdsWideColors ? self.gamut ?? source.rules.gamut : .srgb
        let gamut = requestedGamut.resolved(for: header.colors, changesColors: steps.contains { $0.colors == .changed })
        let keepsGainMap =
            decodedFrames == 1 && mayKeepGainMap(of: header, within: limits) && steps.areGeometry(on: pageHeader.size)
        let needsAllPixels = pageHeader.vectorSize != nil || trim != nil
        let level = needsAllPixels ? 1 : level(source: requestedRegion.size, hasGainMap: keepsGainMap)
        // Face detection uses these pixels, so the level must suffice for it.
        let decode = DecodePlan(
            page: page, level: steps.needFaces ? min(level, pageHeader.faceLevel) : level,
            isAnimated: decodedFrames > 1, maximumFrames: maximumFrames, incompleteImages: limits.incompleteImages,
            drawnSize: drawing?.size, drawnRegion: drawing?.region, keepsGainMap: keepsGainMap,
            gamut: DecodedGamut(of: header.colors, for: gamut))
        return (decode, steps, gamut)
    }

    /// Returns the steps of the plan; a drawing of the requested region alone needs no crop.
    ///
    /// - Parameter drawing: The drawing of a vector image; nil for other sources.
    func allSteps(of requestedRegion: RequestedRegion, drawing: VectorDrawing?) -> RenderSteps {
        var all: RenderSteps
        if let drawing, drawing.region != nil {
            all = [ResampleStep(to: drawing.size, in: light)]
        } else {
            let scaledSize = requestedRegion.sizeBeforeTurn(size)
            all = [ResampleStep(to: scaledSize, of: requestedRegion.croppedRegion, in: light)]
            if let crop { all.append(requestedRegion.beforeTurn(crop, in: size)) }
        }
        if requestedRegion.turn != .none { all.append(TurnStep(requestedRegion.turn)) }
        for step in steps { all.append(step) }
        return all
    }

    fileprivate func isAnimated(from header: ImageHeader) -> Bool {
        frames > 1 && header.frames > 1 && trim == nil && header.format.hasMovingFrames && keepsFrames
    }

    fileprivate func mayKeepGainMap(of header: ImageHeader, within limits: ImagingLimits) -> Bool {
        keepsGainMap && format.writing?.holdsGainMap == true && header.gainMap?.isWithin(limits) == true
    }

    /// Whether frames are kept; they are not stacked for formats encoded in worker processes.
    fileprivate var keepsFrames: Bool {
        stacksFrames ? format.isCommonAnimation || !format.isEncodedByWorker : format.supportsAnimation
    }

    /// Returns the first drawing of a vector image, which is whole if its border must be found; nil for other sources.
    fileprivate func firstDrawing(
        of requestedRegion: RequestedRegion, on page: ImageHeader, maximumPixels: Int
    ) throws(ImagingError) -> VectorDrawing? {
        guard page.vectorSize != nil else { return nil }
        guard trim == nil else { return VectorDrawing(size: page.size) }
        return try drawing(of: requestedRegion, maximumPixels: maximumPixels, format: page.format)
    }

    func drawing(
        of requestedRegion: RequestedRegion, maximumPixels: Int, format: ImageFormat
    ) throws(ImagingError) -> VectorDrawing {
        try requestedRegion.drawing(
            for: size, crop: crop, maximumPixels: maximumPixels, longestSide: format.maximumSide)
    }

    /// Returns the largest level that leaves at least twice the length of ``size`` on the deciding sides.
    ///
    /// With a gain map, four times the length, because adjacent dark and bright pixels have different gains. Depends
    /// only on the two sizes: the bytes of a result must not depend on caches.
    fileprivate func level(source: PixelSize, hasGainMap: Bool) -> Int {
        let level = level(source: source)
        return hasGainMap ? max(1, level / 2) : level
    }

    private func level(source: PixelSize) -> Int {
        [8, 4, 2].first { level in
            let isWideEnough = source.width >= 2 * level * size.width
            let isTallEnough = source.height >= 2 * level * size.height
            if let decidingSides { return decidingSides.allSatisfy { $0 == .width ? isWideEnough : isTallEnough } }
            return (isWideEnough || isTallEnough) && source.width > 2 * level * (size.width - 1)
                && source.height > 2 * level * (size.height - 1)
        } ?? 1
    }

    fileprivate func plannedAdditions(of source: RecipeSource) throws(ImagingError) -> [DecodePlan] {
        var plans: [DecodePlan] = []
        for (index, header) in source.additions.enumerated() {
            let used = additions.indices.contains(index) ? additions[index] : nil
            plans.append(try DecodePlan(ofAddition: header, used: used, number: index, limits: source.limits))
        }
        return plans
    }
}

extension DecodePlan {
    /// - Throws: ``ImagingError/ofAddition(_:_:)`` with the index of the source.
    fileprivate init(
        ofAddition header: ImageHeader, used: RecipeAddition?, number: Int, limits: ImagingLimits
    ) throws(ImagingError) {
        do throws(ImagingError) {
            try self.init(
                ofAddition: header, level: used?.level ?? 1, drawnSize: used?.drawnSize, drawnRegion: used?.drawnRegion,
                limits: limits)
        } catch {
            throw .ofAddition(number, error)
        }
    }
}
