import JSON
import Recipes
import Text

/// The EXIF turn, trim, crop, resize, mirrors, then the filters in the order of the URL.
struct ThumborRecipe: RenderRecipe {
    var options: ThumborOptions
    let accepted: [ImageFormat]
    let quality: Int
    /// The options as written, which determine the draft together with the rest of the recipe.
    var text: String

    var keyText: String {
        "thumbor \(text) \(accepted.map(\.rawValue).joined(separator: ",")) \(quality) \(options.replacesPNG)"
    }

    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        let format = format(of: source)
        let isTrimmed = !options.isRaw && options.geometry.trim != nil && !isAnimated(source)
        var image = PlannedImage(source, page: options.page, isTrimmed: isTrimmed)
        if !options.isRaw { apply(layout(of: source), to: &image) }
        // A format without alpha shows the colors of transparent pixels.
        if image.hasAlpha, !format.supportsAlpha { image.apply(OpaqueStep()) }
        var draft = image.draft(as: format, quality: encodingQuality(in: format, by: source.rules))
        if options.quality == nil, !hasOwnQuality(format) { draft.qualityScale = .visual }
        // As in thumbor, WebP with the highest quality is lossless.
        let isLossless = options.isLossless || format == .webp && draft.quality == .fixed(100)
        draft.isLossless =
            isLossless && format.canBeLossless && source.limits.allow(image.size, in: format, isLossless: true)
        draft.gamut = options.stripsProfile ? .srgb : .auto
        draft.frames = options.page > 0 ? 1 : options.frames ?? .max
        if isTrimmed { draft.trim = options.geometry.trim.map(Self.trim) }
        return draft
    }

    private func apply(_ layout: ThumborLayout, to image: inout PlannedImage) {
        let geometry = options.geometry
        image.turn(geometry.turn)
        let box = geometry.turn.turned(image.source.whole(ofPage: options.page))
        image.crop(CropStep(x: layout.part.x - box.x, y: layout.part.y - box.y, size: layout.part.size))
        image.turn(geometry.mirror)
        image.resample(to: options.isDebug ? layout.part.size : drawnSize(layout.size, of: image.page))
        var steps = ThumborPlanBuilder(image, box: layout.box, padding: geometry.padding)
        if let interest = layout.interest, !options.isDebug { steps.cropToFaces(interest) }
        for filter in options.filters { steps.apply(filter) }
        image = steps.image
    }

    /// Returns the layout of the source after a trim.
    func layout(of source: RecipeSource) -> ThumborLayout {
        var geometry = options.geometry
        if options.isDebug || options.isRaw {
            geometry = ThumborGeometry()
            geometry.quarters = options.isRaw ? 0 : options.geometry.quarters
        }
        return ThumborLayout(geometry, of: geometry.turn.turned(source.whole(ofPage: options.page)))
    }

    func isAnimated(_ source: RecipeSource) -> Bool { hasFrames(source.header) && format(of: source).supportsAnimation }

    private func hasFrames(_ header: ImageHeader) -> Bool {
        header.frames > 1 && header.format.hasMovingFrames && options.page == 0 && options.frames != 1
    }

    private func format(of source: RecipeSource) -> ImageFormat {
        let header = source.header
        let hasFrames = hasFrames(header)
        let page = header.page(options.page)
        var choices: [ImageFormat] = []
        if !options.isRaw {
            if let format = options.format {
                guard hasFrames, !format.isCommonAnimation, let fallback = options.fallback, fallback.isCommonAnimation
                else { return format }
                return fallback
            }
            choices = accepted.filter { !hasFrames || $0.isCommonAnimation }
            if options.replacesPNG, header.format == .png, !page.hasAlpha { choices.append(.jpeg) }
        }
        choices.append(header.format.outputFormat(hasAlpha: page.hasAlpha))
        return source.firstSupported(of: choices, hasAlpha: page.hasAlpha, isMoving: hasFrames)
    }

    /// Returns whether thumbor has a quality setting for the format; other formats use Alula's visual quality.
    private func hasOwnQuality(_ format: ImageFormat) -> Bool { format == .jpeg || format == .webp }

    private func encodingQuality(in format: ImageFormat, by rules: RenderingRules) -> EncodingQuality {
        let highest =
            options.quality ?? rules.defaultQuality(hasOwnQuality(format) ? quality : ImageFormat.defaultVisualQuality)
        return options.maximumBytes.map { .fitting(bytes: $0, highest: highest, lowest: Self.lowestQuality) }
            ?? .fixed(highest)
    }

    private static let lowestQuality = 10

    private func drawnSize(_ size: PixelSize, of page: ImageHeader) -> PixelSize {
        guard page.vectorSize != nil, let resolution = options.resolution, options.geometry.width == .automatic,
            options.geometry.height == .automatic
        else { return size }
        return PixelSize(width: max(1, size.width * resolution / 72), height: max(1, size.height * resolution / 72))
    }

    private static func trim(_ trim: ThumborGeometry.Trim) -> ImageOperations.Trim {
        var trimOptions = ImageOperations.Trim(tolerance: trim.tolerance)
        trimOptions.isDistance = true
        trimOptions.isFromBottomRight = trim.isFromBottomRight
        return trimOptions
    }
}

/// `meta/` in thumbor's format: the source, the operations before the filters, and the resulting size.
struct ThumborMetadata {
    let text: String

    init(of header: ImageHeader, recipe: ThumborRecipe, source: ExactText) {
        let page = header.page(recipe.options.page)
        let layout = recipe.layout(of: RecipeSource(header: header))
        var operations: [String] = []
        let part = layout.part
        if !part.isWhole {
            operations.append(
                """
                {"type": "crop", "left": \(part.x), "top": \(part.y), "right": \(part.x + part.size.width), \
                "bottom": \(part.y + part.size.height)}
                """)
        }
        let target = layout.interest ?? layout.size
        if target != part.size {
            operations.append("{\"type\": \"resize\", \"width\": \(target.width), \"height\": \(target.height)}")
        }
        if recipe.options.geometry.isMirroredAcross { operations.append("{\"type\": \"flip_horizontally\"}") }
        if recipe.options.geometry.isMirroredDown { operations.append("{\"type\": \"flip_vertically\"}") }
        text = """
            {"thumbor": {"source": {"url": \(JSONText.string(source.string)), "width": \(page.size.width), \
            "height": \(page.size.height), "frameCount": \(header.frames)}, \
            "operations": [\(operations.joined(separator: ", "))], \
            "target": {"width": \(target.width), "height": \(target.height)}}}
            """
    }
}
