import JSON
import Recipes
import ThumbnailTypes

/// The EXIF turn, the trim, mirrors and quarter turns, the box, then the colors.
struct CloudflareRecipe: RenderRecipe {
    var options: CloudflareOptions

    private static let defaultQuality = 85

    var keyText: String {
        let accepted = (options.accepted ?? []).map(\.rawValue)
        return "cloudflare \(options.text) \(box.width ?? 0)x\(box.height ?? 0) \(accepted)"
    }

    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        let header = source.header
        let hasAlpha = source.header.page(0).hasAlpha
        guard ![.tiff, .bmp, .ico, .raw].contains(header.format) else { throw .formatNotAccepted(header.format) }
        var choices = options.format.map { [$0] } ?? options.accepted ?? []
        // Cloudflare also uses other formats for images that are too large for AVIF.
        if choices.first == .avif {
            choices.insert(options.accepted?.contains(.webp) ?? hasAlpha ? .webp : .jpeg, at: 1)
            if options.isFast { choices.removeFirst() }
        }
        if options.format == nil { choices.append(header.format.outputFormat(hasAlpha: hasAlpha)) }
        let isMoving = header.frames > 1 && options.isAnimated
        let fit = source.firstSupported(of: choices, hasAlpha: hasAlpha, isMoving: isMoving)
        return try draft(of: source, in: options.format == .avif ? fit : options.format ?? fit)
    }

    private func draft(of source: RecipeSource, in format: ImageFormat) throws(ImagingError) -> RenderDraft {
        var source = source
        var rendering = RenderingOptions()
        rendering.format = .fixed(format)
        rendering.qualityScale = options.format != nil && quality != nil ? .encoder : .visual
        rendering.isAnimated = options.isAnimated
        rendering.background = options.background ?? (options.fit == .pad ? .white : nil)
        rendering.quality = quality ?? (format.hasQuality ? source.rules.defaultQuality(Self.defaultQuality) : nil)
        rendering.keepsCopyright = options.keepsCopyright && format == .jpeg
        rendering.operations = options.operations
        if case .border(let trim, let keep) = options.trim {
            if let box = source.box {
                source = source.with(box: box.grown(by: keep))
            }
            let isMoving = source.header.frames > 1 && options.isAnimated && format.supportsAnimation
            rendering.operations.trim = isMoving ? nil : trim
        }
        let part = try part(of: source.whole().size)
        if let part {
            rendering.operations.crop = .pixels(x: part.x, y: part.y, width: part.size.width, height: part.size.height)
        }
        let size = part?.size ?? source.whole().size
        fit(&rendering, in: QuarterTurn(quarters: options.operations.rotation / 90).turned(size))
        var draft = try rendering.draft(of: source)
        if case .point(let x, let y) = options.position, let crop = draft.crop {
            draft.crop = CropStep(to: crop.size, of: draft.size, at: .focal(x: x, y: y))
        }
        if let gamma = options.gamma {
            draft.steps = RenderSteps([ColorMapStep(.curves([.power(gamma)]))] + draft.steps)
        }
        return draft
    }

    private func part(of whole: PixelSize) throws(ImagingError) -> ImageRegion? {
        guard case .pixels(let margins, let width, let height) = options.trim else { return nil }
        let size = PixelSize(
            width: min(width ?? .max, whole.width - margins.left - margins.right),
            height: min(height ?? .max, whole.height - margins.top - margins.bottom))
        guard size.width > 0, size.height > 0 else { throw .cropOutside(whole) }
        return ImageRegion(x: margins.left, y: margins.top, size: size, of: whole)
    }

    private func fit(_ rendering: inout RenderingOptions, in size: PixelSize) {
        rendering.width = box.width
        rendering.height = box.height
        if case .gravity(let gravity) = options.position { rendering.gravity = gravity }
        rendering.faceZoom = options.zoom
        switch options.fit {
        case .scaleDown, .inside: rendering.fit = .inside
        case .outside: rendering.fit = .outside
        case .aspectCrop: rendering.fit = .cover
        case .contain: (rendering.fit, rendering.enlarge) = (.inside, true)
        case .cover: (rendering.fit, rendering.enlarge) = (.cover, true)
        case .pad: (rendering.fit, rendering.enlarge) = (.contain, true)
        case .squeeze, .fill: (rendering.fit, rendering.enlarge) = (.fill, true)
        case .crop:
            // The box is clipped to the image, so neither side is enlarged.
            rendering.fit = .cover
            rendering.enlarge = true
            rendering.width = box.width.map { min($0, size.width) }
            rendering.height = box.height.map { min($0, size.height) }
        }
    }
}

extension CloudflareRecipe: BoxRecipe {
    var box: RequestedBox { options.box }
    var quality: Int? { options.quality }
    var hasDefaultQuality: Bool { quality == nil && (options.format?.hasQuality ?? true) }

    mutating func set(_ box: RequestedBox, quality: Int?) {
        options.box = box
        options.quality = quality
    }

    /// Reports the size of the whole image, even with a border trim.
    func response(about source: SourceFacts) -> WrittenResponse {
        let header = source.header
        let sourceSize = source.header.size
        let size = (try? RenderPlan(AnyRenderRecipe(self), of: RecipeSource(header: header)))?.outputSize ?? sourceSize
        func sides(_ size: PixelSize) -> [(String, JSONValue)] {
            [("width", .int(size.width)), ("height", .int(size.height))]
        }
        let original = sides(sourceSize) + [("format", .string(header.format.mediaType))]
        let facts = sides(size) + [("original", .object([("file_size", .int(source.byteCount))] + original))]
        return WrittenResponse(mediaType: "application/json", body: .text(JSONValue.object(facts).text))
    }
}
