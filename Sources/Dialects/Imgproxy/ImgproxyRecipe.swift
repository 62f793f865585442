import Recipes

/// Trim, crop, scale, turn, crop to the box, filters, canvas, margins, background, watermark.
struct ImgproxyRecipe: RenderRecipe {
    let options: ImgproxyOptions
    let defaults: ImgproxyDefaults
    let accepted: ImgproxyNegotiation
    private static let untouchedQuality = 92

    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        let header = source.header
        let sourceFormat = ImgproxyFormat(header.format)
        var draft = isUnchanged(sourceFormat) ? unchanged(header, limits: source.limits) : try checkedDraft(of: source)
        draft.gamut = options.gamut
        draft.keepsCopyright = !options.stripsMetadata || options.keepsCopyright
        return draft
    }

    private func checkedDraft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        let header = source.header
        if options.format == .svg { throw .sideTooLong(header.size, format: .svg) }
        let mayMove = options.maximumFrames > 1 && header.frames > 1 && header.format.hasMovingFrames
        let format = format(of: source, isAnimated: mayMove)
        let isAnimated = mayMove && format.isCommonAnimation
        let frames = isAnimated ? min(header.frames, options.maximumFrames) : 1
        try check(header, frames: frames)
        return draft(of: source, format: format, frames: frames)
    }

    /// The options determine the second draft together with format and quality, which are already in the key.
    var keyText: String { "imgproxy \(options.keyText) \(defaults.watermarkOpacity) \(defaults.light.rawValue)" }

    private func unchanged(_ header: ImageHeader, limits: ImagingLimits) -> RenderDraft {
        let page = header.page(0)
        var draft = RenderDraft(
            size: page.size, format: header.format.outputFormat(hasAlpha: page.hasAlpha),
            quality: .fixed(Self.untouchedQuality))
        draft.frames = limits.maximumFrames
        return draft
    }

    private func isUnchanged(_ sourceFormat: ImgproxyFormat) -> Bool {
        if options.isRaw || sourceFormat == .svg && options.format == .svg { return true }
        return options.skippedFormats.contains(sourceFormat)
            && (options.format == nil || options.format == sourceFormat)
    }

    private func format(of source: RecipeSource, isAnimated: Bool) -> ImageFormat {
        let sourceFormat = source.header.format
        if let named = options.format?.written {
            let enforced = accepted.formats(.enforced, isAnimated: isAnimated)
            return enforced.first { !source.unsupportedFormats.contains($0) } ?? named
        }
        let needsAlpha =
            options.background == nil && (source.header.hasAlpha || options.hasPadding || options.extend.isOn)
        var choices = accepted.formats(.preferred, isAnimated: isAnimated)
        if sourceFormat == .svg {
            // imgproxy would send the original file.
            choices.append(.png)
        } else {
            let preferred = defaults.preferredFormats
            if preferred.contains(sourceFormat) { choices.append(sourceFormat) }
            choices += preferred.filter { format in
                (!isAnimated || format.isCommonAnimation) && (!needsAlpha || format.supportsAlpha)
            }
            choices.append(preferred.first ?? .jpeg)
        }
        return source.firstSupported(of: choices, hasAlpha: needsAlpha, isMoving: isAnimated)
    }

    private func check(_ header: ImageHeader, frames: Int) throws(ImagingError) {
        guard header.vectorSize == nil else { return }
        let area = header.storedSize.area
        if frames > 1, options.maximumFramePixels > 0 {
            if area > options.maximumFramePixels { throw .tooManyPixels(header.storedSize) }
        } else if let maximum = options.maximumSourcePixels, area > maximum / frames {
            throw .tooManyPixels(header.storedSize, frames: frames)
        }
    }
}

extension ImgproxyRecipe {
    private func draft(of source: RecipeSource, format: ImageFormat, frames: Int) -> RenderDraft {
        let isTrimmed = options.trim.threshold != nil && frames == 1
        let upright = source.header.page(0).orientation
        // imgproxy crops the stored image before it turns it.
        var image = PlannedImage(source, turned: upright.inverse, light: defaults.light, isTrimmed: isTrimmed)
        let turns = Turns(options, upright: upright)
        let whole = turns.shown.turned(image.size)
        let layout = ImgproxyLayout(
            options, source: whole, isDrawing: image.page.vectorSize != nil && !isTrimmed,
            prescaling: frames == 1 && !isTrimmed ? image.page.format.prescaling : .none)

        let cropSize = layout.cropSize.orLess(than: whole)
        let gravity = options.effectiveCropGravity
        let isCropped = cropSize != whole
        let isByContent = gravity.kind == .smart || gravity.kind == .faces
        if isCropped, !isByContent { image.crop(turns.crop(to: cropSize, by: gravity, of: image.size)) }
        image.turn(turns.shown)
        if isCropped, gravity.kind == .smart { image.apply(InterestStep(.attention, size: cropSize)) }
        if isCropped, gravity.kind == .faces { image.cropToFaces(cropSize) }
        image.resample(to: layout.resizedSize)
        var builder = ImgproxyPlanBuilder(options: options, layout: layout, format: format, image: image)
        builder.addStepsAfterResize()
        var format = format
        if format == .avif, min(builder.image.size.width, builder.image.size.height) < Self.shortestAVIFSide {
            format = builder.image.hasAlpha ? .png : .jpeg
            builder.flattenIfNeeded(by: format)
        }
        if format == options.format?.written { builder.shrink(into: format, within: source.limits) }
        builder.overlayWatermark(opacity: defaults.watermarkOpacity)
        var draft = builder.image.draft(as: format, quality: quality(in: format, by: source.rules))
        draft.frames = frames
        if isTrimmed { draft.trim = trim(exchangingSides: upright.exchangesSides) }
        return draft
    }

    /// The quality at which imgproxy usually gives up meeting a byte limit.
    private static let lowestQuality = 5

    private static let shortestAVIFSide = 16

    /// Returns the trim in upright axes (imgproxy trims the stored image); transparent pixels count as magenta.
    private func trim(exchangingSides: Bool) -> ImageOperations.Trim {
        let requested = options.trim
        var trim = ImageOperations.Trim(
            tolerance: pixels(max(0, min(255, requested.threshold ?? 0)).rounded(.down)), color: requested.color)
        trim.matte = Color(red: 255, green: 0, blue: 255)
        trim.isEqualAcross = exchangingSides ? requested.isEqualDown : requested.isEqualAcross
        trim.isEqualDown = exchangingSides ? requested.isEqualAcross : requested.isEqualDown
        return trim
    }

    private func quality(in format: ImageFormat, by rules: RenderingRules) -> EncodingQuality {
        let formatQuality = options.formatQualities[ImgproxyFormat(format)] ?? 0
        var quality = options.quality > 0 ? options.quality : formatQuality > 0 ? formatQuality : defaults.quality
        if options.quality == 0, formatQuality == defaults.formatQualities[ImgproxyFormat(format)] ?? 0 {
            quality = rules.defaultQuality(quality)
        }
        return options.maximumBytes > 0
            ? .fitting(bytes: options.maximumBytes, highest: quality, lowest: Self.lowestQuality) : .fixed(quality)
    }
}

private struct Turns {
    private let options: ImgproxyOptions
    let shown: QuarterTurn
    private let first: QuarterTurn

    init(_ options: ImgproxyOptions, upright: QuarterTurn) {
        self.options = options
        first = options.turnsUpright ? upright : .none
        var requested = QuarterTurn(quarters: options.quarters)
        if options.mirrorsX { requested = requested.then(.mirrorX) }
        if options.mirrorsY { requested = requested.then(.mirrorY) }
        shown = first.then(requested)
    }

    /// Crops the stored image; imgproxy turns the position back before it rounds it.
    func crop(to size: PixelSize, by gravity: ImgproxyGravity, of stored: PixelSize) -> CropStep {
        // EXIF orientations turn first, then mirror.
        let quarters = first.isMirrored ? (4 - first.quarters) & 3 : first.quarters
        let storedGravity =
            gravity
            .before(quarters: options.quarters, mirroringX: options.mirrorsX, mirroringY: options.mirrorsY)
            .before(quarters: quarters, mirroringX: first.isMirrored, mirroringY: false)
        let inner = shown.turned(size)
        let corner = storedGravity.corner(of: inner, on: stored, ratio: 1)
        return CropStep(x: corner.x, y: corner.y, size: inner)
    }
}

extension ImageFormat {
    /// How imgproxy's decoder of the format prescales.
    fileprivate var prescaling: ImgproxyLayout.Prescaling {
        switch self {
        case .jpeg: .powers
        case .webp: .anyFactor
        default: .none
        }
    }
}
