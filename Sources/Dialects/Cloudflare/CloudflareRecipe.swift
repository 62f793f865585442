import Imaging

/// How Cloudflare makes a result: EXIF's turn, the trim, mirrors and quarter turns, the box, then the colours.
struct CloudflareRecipe: RenderRecipe {
    var options: CloudflareOptions

    /// The quality of targets that name none.
    private static let quality = 85

    var keyText: String {
        let accepted = (options.accepted ?? []).map(\.rawValue)
        return "cloudflare \(options.text) \(options.width ?? 0)x\(options.height ?? 0) \(accepted)"
    }

    func composition(of source: RecipeSource) throws(ImagingError) -> Composition {
        let header = source.header
        guard ![.tiff, .bmp].contains(header.format) else { throw .formatNotAccepted(header.format) }
        let hasAlpha = header.page(0).hasAlpha
        let format = options.format ?? options.accepted?.first ?? header.format.answer(hasAlpha: hasAlpha)
        let quick: ImageFormat = options.accepted?.contains(.webp) ?? hasAlpha ? .webp : .jpeg
        if format == .avif, options.isFast { return try composition(of: source, in: quick) }
        let composition = try composition(of: source, in: format)
        let shape = FrameShape(size: composition.crop?.size ?? composition.size, hasAlpha: false)
        // The service, too, makes other formats of images that are too large for AVIF.
        let isTooLarge =
            composition.steps.shape(after: shape).size.area > source.limits.maximumFramePixels(of: .avif)
        return try format == .avif && isTooLarge ? self.composition(of: source, in: quick) : composition
    }

    private func composition(of source: RecipeSource, in format: ImageFormat) throws(ImagingError) -> Composition {
        var source = source
        var rendering = RenderingOptions()
        rendering.format = .fixed(format)
        rendering.qualityScale = .encoder
        rendering.isAnimated = options.isAnimated
        rendering.background = options.background ?? (options.fit == .pad ? .white : nil)
        rendering.quality = options.quality ?? (format.hasQuality ? source.rules.unnamed(Self.quality) : nil)
        rendering.keepsCopyright = options.keepsCopyright && format == .jpeg
        rendering.operations = options.operations
        if case .border(let trim, let keep) = options.trim {
            if let box = source.box {
                source = RecipeSource(header: source.header, box: box.grown(by: keep), rules: source.rules)
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
        var composition = try rendering.composition(of: source)
        if case .point(let x, let y) = options.position, let crop = composition.crop {
            composition.crop = CropStep(
                x: (composition.size.width - crop.size.width) * x / 1_000,
                y: (composition.size.height - crop.size.height) * y / 1_000, size: crop.size)
        }
        if let gamma = options.gamma {
            composition.steps = RenderSteps([ColorMapStep(.curves([.power(gamma)]))] + composition.steps)
        }
        return composition
    }

    /// The part that a trim by pixels leaves; nil for all.
    private func part(of whole: PixelSize) throws(ImagingError) -> ImagePart? {
        guard case .pixels(let margins, let width, let height) = options.trim else { return nil }
        let size = PixelSize(
            width: min(width ?? .max, whole.width - margins.left - margins.right),
            height: min(height ?? .max, whole.height - margins.top - margins.bottom))
        guard size.width > 0, size.height > 0 else { throw .cropOutside(whole) }
        return ImagePart(x: margins.left, y: margins.top, size: size, of: whole)
    }

    /// The box in Alula's own words, for an image of this size.
    private func fit(_ rendering: inout RenderingOptions, in size: PixelSize) {
        (rendering.width, rendering.height) = (options.width, options.height)
        if case .gravity(let gravity) = options.position { rendering.gravity = gravity }
        switch options.fit {
        case .scaleDown, .inside: rendering.fit = .inside
        case .outside: rendering.fit = .outside
        case .aspectCrop: rendering.fit = .cover
        case .contain: (rendering.fit, rendering.enlarge) = (.inside, true)
        case .cover: (rendering.fit, rendering.enlarge) = (.cover, true)
        case .pad: (rendering.fit, rendering.enlarge) = (.contain, true)
        case .squeeze, .fill: (rendering.fit, rendering.enlarge) = (.fill, true)
        case .crop:
            // Neither side grows, so that the box holds at most the sides of the image.
            (rendering.fit, rendering.enlarge) = (.cover, true)
            rendering.width = options.width.map { min($0, size.width) }
            rendering.height = options.height.map { min($0, size.height) }
        }
    }
}

extension ImagePart {
    /// This part with so many pixels more at each side, as far as the whole reaches.
    fileprivate func grown(by pixels: Int) -> ImagePart {
        let (left, top) = (min(x, pixels), min(y, pixels))
        let size = PixelSize(
            width: left + min(size.width + pixels, whole.width - x),
            height: top + min(size.height + pixels, whole.height - y))
        return ImagePart(x: x - left, y: y - top, size: size, of: whole)
    }
}

extension CloudflareRecipe: SizedRecipe {
    var isQualityUnnamed: Bool { options.quality == nil && (options.format?.hasQuality ?? true) }

    func allowed(by policy: SizePolicy, _ choices: ClientChoices) throws(APIError) -> CloudflareRecipe {
        var quality = options.quality
        if let named = quality { quality = try policy.quality(named) }
        let box = try policy.allowed(RequestedBox(width: options.width, height: options.height), choices)
        var recipe = self
        recipe.options.set(box, quality: quality)
        return recipe
    }
}
