import Recipes

/// Turns before the size, the trim, the part, the size, mirrors, then everything else.
struct IPXRecipe: RenderRecipe {
    var modifiers: IPXModifiers

    private static let maximumSide = 8_192
    private static let defaultQuality = 80

    var keyText: String {
        let accepted = (modifiers.accepted ?? []).map(\.rawValue)
        return "ipx \(modifiers.text) \(box.width ?? 0)x\(box.height ?? 0) \(accepted)"
    }

    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        let format = format(of: source)
        var rendering = rendering(of: source, as: format)
        try orient(&rendering, source: source)
        var image = try rendering.plannedImage(of: source, as: format)
        if modifiers.fit == .contain, let width = rendering.width, let height = rendering.height {
            image.apply(
                CanvasStep(
                    size: PixelSize(width: width, height: height), around: image.size, at: modifiers.gravity,
                    color: modifiers.background ?? .black))
        }
        for step in modifiers.steps { image.apply(step) }
        if !format.supportsAlpha, image.hasAlpha { image.apply(BackgroundStep(.black)) }
        return rendering.draft(of: image, as: format)
    }

    private func format(of source: RecipeSource) -> ImageFormat {
        let header = source.header
        let hasAlpha = source.header.page(0).hasAlpha
        return modifiers.format
            ?? source.firstSupported(
                of: (modifiers.accepted ?? []) + [header.format.outputFormat(hasAlpha: hasAlpha)], hasAlpha: hasAlpha,
                isMoving: header.frames > 1 && modifiers.keepsFrames)
    }

    private func rendering(of source: RecipeSource, as format: ImageFormat) -> RenderingOptions {
        let header = source.header
        let page = source.header.page(0)
        var rendering = RenderingOptions()
        rendering.format = .fixed(format)
        rendering.qualityScale = modifiers.format != nil && modifiers.quality != nil ? .encoder : .visual
        rendering.isAnimated =
            header.frames > 1 && (modifiers.keepsFrames || format == .gif) && format.supportsAnimation
        rendering.quality = modifiers.quality ?? (format.hasQuality ? Self.defaultQuality : nil)
        rendering.gravity = modifiers.gravity
        if modifiers.flattens || !format.supportsAlpha { rendering.background = modifiers.background ?? .black }
        if let tolerance = modifiers.trim, !rendering.isAnimated, min(page.size.width, page.size.height) >= 3 {
            var trim = ImageOperations.Trim(tolerance: tolerance)
            trim.matte = .black
            rendering.operations.trim = trim
        }
        return rendering
    }

    /// Undoes the EXIF turn unless it is requested; with a size, the image is first turned upright.
    private func orient(_ rendering: inout RenderingOptions, source: RecipeSource) throws(ImagingError) {
        let page = source.header.page(0)
        let exif = modifiers.isUpright ? QuarterTurn.none : page.orientation.inverse
        let hasSize = box != RequestedBox()
        let quarters = QuarterTurn(quarters: modifiers.rotation / 90)
        let before = hasSize ? exif.then(quarters) : exif
        let turn = before.then(modifiers.flips).then(hasSize ? .none : quarters)
        rendering.operations.flip = turn.isMirrored ? .horizontal : nil
        rendering.operations.rotation = 90 * turn.quarters + modifiers.rotation % 90
        var size = before.turned(source.whole().size)
        if let part = modifiers.part {
            guard part.x + part.size.width <= size.width, part.y + part.size.height <= size.height else {
                throw .cropOutside(size)
            }
            let storedPart = before.inverse.turned(ImageRegion(x: part.x, y: part.y, size: part.size, of: size))
            rendering.operations.crop = .pixels(
                x: storedPart.x, y: storedPart.y, width: storedPart.size.width, height: storedPart.size.height)
            size = part.size
        }
        fit(&rendering, in: size, stored: page.storedSize)
    }

    private func fit(_ rendering: inout RenderingOptions, in size: PixelSize, stored: PixelSize) {
        func scaled(_ side: Int, _ numerator: Int, over denominator: Int) -> Int {
            max(1, (2 * side * numerator + denominator) / (2 * denominator))
        }
        guard var width = box.width, var height = box.height else {
            let maximum = Self.maximumSide
            rendering.width = box.width.map { min($0, maximum, scaled(size.width, maximum, over: size.height)) }
            rendering.height = box.height.map { min($0, maximum, scaled(size.height, maximum, over: size.width)) }
            rendering.enlarge = modifiers.enlarges
            return
        }
        let limits =
            [PixelSize(width: Self.maximumSide, height: Self.maximumSide)] + (modifiers.enlarges ? [] : [stored])
        for limit in limits {
            if width > limit.width { (width, height) = (limit.width, scaled(height, limit.width, over: width)) }
            if height > limit.height {
                width = scaled(width, limit.height, over: height)
                height = limit.height
            }
        }
        rendering.width = width
        rendering.height = height
        rendering.enlarge = true
        rendering.fit = modifiers.fit == .contain ? .inside : modifiers.fit
    }
}

extension IPXRecipe: BoxRecipe {
    var box: RequestedBox { modifiers.box }
    var quality: Int? { modifiers.quality }
    var hasDefaultQuality: Bool { quality == nil }

    mutating func set(_ box: RequestedBox, quality: Int?) {
        modifiers.box = box
        modifiers.quality = quality
    }
}
