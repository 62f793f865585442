import Recipes

/// The EXIF turn, a box, and a format that the target or `Accept` chooses.
///
/// The header of the source determines all sizes and formats; Alula's own rules do the rest.
struct FrontEndRecipe: RenderRecipe {
    enum Fit: String, Sendable, Hashable {
        case inside
        case outside
        case cover
        case fill
    }

    enum FormatRule: Sendable, Hashable {
        case fixed(ImageFormat)
        /// The first of these formats, best first, that `Accept` names; otherwise the source's format.
        case negotiated([ImageFormat])
    }

    enum Unchanged: String, Sendable, Hashable {
        case none
        case animations
        /// All sources except still images in web formats.
        case allButWebPhotographs = "others"
    }

    var box = RequestedBox()
    var fit = Fit.inside
    var gravity = Gravity.center
    var background: Color?
    var format: FormatRule
    var quality: Int?
    var defaultQuality: Int?
    var unchanged = Unchanged.none
    var acceptsDrawings = true
    /// Formats that results have only if `Accept` names them.
    var formatsOnlyIfAccepted: [ImageFormat] = []

    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        guard acceptsDrawings || source.header.format != .svg else { throw .formatNotAccepted(.svg) }
        var options = options(of: source)
        if hasDefaultQuality { options.quality = options.quality.map(source.rules.defaultQuality) }
        return try options.draft(of: source)
    }

    var keyText: String {
        "front-end \(box.width ?? 0)x\(box.height ?? 0) \(fit.rawValue) \(gravity) \(unchanged.rawValue)"
            + (background.map { " \($0.hexadecimal)" } ?? "")
    }

    func options(of source: RecipeSource) -> RenderingOptions {
        let page = source.header.page(0)
        var options = RenderingOptions()
        let isUnchanged = isUnchanged(source.header)
        let format = format(of: source, isUnchanged: isUnchanged)
        options.format = .fixed(format)
        if case .fixed = self.format, quality != nil { options.qualityScale = .encoder }
        options.isAnimated = true
        options.background = background
        options.gravity = gravity
        if format.hasQuality { options.quality = quality ?? defaultQuality }
        let size = isUnchanged ? page.size : size(of: page.size)
        guard size != page.size else { return options }
        options.width = size.width
        options.height = size.height
        options.fit = fit == .cover && box.width != nil && box.height != nil ? .cover : .fill
        options.enlarge = true
        return options
    }

    private func isUnchanged(_ header: ImageHeader) -> Bool {
        let isAnimated = header.frames > 1 && header.format.supportsAnimation
        return switch unchanged {
        case .none: false
        case .animations: isAnimated
        case .allButWebPhotographs: isAnimated || ![.jpeg, .png, .webp, .avif].contains(header.format)
        }
    }

    private func format(of source: RecipeSource, isUnchanged: Bool) -> ImageFormat {
        let header = source.header
        let hasAlpha = source.header.page(0).hasAlpha
        var choices: [ImageFormat] = []
        switch format {
        case .fixed(let format) where !isUnchanged: return format
        case .negotiated(let accepted) where !isUnchanged: choices = accepted
        default: break
        }
        if isUnchanged || !formatsOnlyIfAccepted.contains(header.format) {
            choices.append(header.format.outputFormat(hasAlpha: hasAlpha))
        }
        return source.firstSupported(of: choices, hasAlpha: hasAlpha, isMoving: header.frames > 1)
    }

    /// Returns the size of the box, which never exceeds the source on either side.
    private func size(of source: PixelSize) -> PixelSize {
        func scaled(_ side: Int, by numerator: Int, over denominator: Int) -> Int {
            max(1, Int((Double(side) * Double(numerator) / Double(denominator)).rounded(.toNearestOrEven)))
        }
        func filling(width: Int) -> PixelSize {
            let width = min(width, source.width)
            return PixelSize(width: width, height: scaled(source.height, by: width, over: source.width))
        }
        func filling(height: Int) -> PixelSize {
            let height = min(height, source.height)
            return PixelSize(width: scaled(source.width, by: height, over: source.height), height: height)
        }
        switch (box.width, box.height) {
        case (nil, nil): return source
        case (let width?, nil): return filling(width: width)
        case (nil, let height?): return filling(height: height)
        case (let width?, let height?):
            switch fit {
            case .cover, .fill:
                return PixelSize(width: min(width, source.width), height: min(height, source.height))
            case .inside, .outside:
                let isWide = width * source.height < height * source.width
                return isWide == (fit == .inside) ? filling(width: width) : filling(height: height)
            }
        }
    }
}

extension FrontEndRecipe: BoxRecipe {
    var hasDefaultQuality: Bool {
        if case .fixed(let format) = format, !format.hasQuality { return false }
        return quality == nil
    }

    mutating func set(_ box: RequestedBox, quality: Int?) {
        self.box = box
        self.quality = quality
    }
}
