import Recipes

struct ImaginaryPlanBuilder {
    private var image: PlannedImage
    private var missingTurn: QuarterTurn
    private var quality = ImaginaryOptions.standardQuality
    private var format: ImageFormat?
    private(set) var nextAddition = 0

    init(_ source: RecipeSource) {
        let header = source.header.page(0)
        let isTurnedByDecoders = header.format == .heic || header.format == .avif
        missingTurn = isTurnedByDecoders ? .none : header.orientation
        image = PlannedImage(source, turned: missingTurn.inverse)
    }

    func draft() throws(ImagingError) -> RenderDraft {
        let sourceFormat = image.page.format
        if format == nil, [.gif, .svg].contains(sourceFormat) { throw .formatNotAccepted(sourceFormat) }
        let hasAlpha = image.hasAlpha
        return image.draft(
            as: format
                ?? image.source.firstSupported(of: [sourceFormat.outputFormat(hasAlpha: hasAlpha)], hasAlpha: hasAlpha),
            quality: .fixed(quality))
    }
}

extension ImaginaryPlanBuilder {
    mutating func apply(_ operation: ImaginaryOperation) throws(ImagingError) {
        let options = operation.options
        guard operation.name != .autorotate else {
            turnUpright()
            quality = ImaginaryOptions.standardQuality
            return
        }
        if options.rotate > 0 {
            missingTurn = .none
            image.turn(QuarterTurn(quarters: min(options.rotate, 270) / 90))
        } else if !options.keepsOrientation {
            turnUpright()
        }
        if options.mirrorsX || operation.name == .flip { image.turn(.mirrorX) }
        if options.mirrorsY || operation.name == .flop { image.turn(.mirrorY) }

        let layout = try ImaginaryLayout(operation, on: image.size)
        if layout.zoomed != image.size { image.apply(ZoomStep(factor: layout.zoomed.width / image.size.width)) }
        if layout.scaled != image.size { image.resample(to: layout.scaled) }
        switch layout.boxStep {
        case .none: break
        case .crop(let step): image.crop(step)
        case .interest(let size): image.apply(InterestStep(.attention, size: size))
        case .bars(let size): addBars(to: size, options: options)
        }
        let sigma = Int((min(options.sigma, Self.widestBlur) * 100_000).rounded())
        if sigma > 0 { image.apply(GaussianStep(.blur, sigma: sigma)) }
        switch operation.name {
        case .watermarkimage: overlay(options.opacity == 0 ? 1 : options.opacity, x: options.left, y: options.top)
        case .watermark: overlay(options.opacity == 0 ? 0.25 : options.opacity, isTiled: !options.isSingle)
        default: break
        }
        finish(operation)
    }

    mutating func skip(_ operation: ImaginaryOperation) { if operation.mark != nil { nextAddition += 1 } }

    /// The largest blur in pixels; it already leaves only one color.
    private static let widestBlur = 1_000.0

    /// Applies the operation's format and background, so that later operations see no alpha that the format lacks.
    private mutating func finish(_ operation: ImaginaryOperation) {
        format = operation.format ?? format
        quality = operation.options.effectiveQuality
        if image.hasAlpha {
            if let background = operation.options.background {
                image.apply(BackgroundStep(background))
            } else if format?.supportsAlpha == false {
                image.apply(BackgroundStep(.black))
            }
        }
        if operation.options.isGray { image.apply(ColorMapStep(.gray)) }
    }

    private mutating func addBars(to size: PixelSize, options: ImaginaryOptions) {
        let color = options.barColor(hasAlpha: image.hasAlpha).map { CanvasFill.color($0) }
        let corner = size.corner(of: image.size, at: .center)
        image.place(
            on: size, x: corner.x, y: corner.y, fill: color ?? .backdrop(options.bars == .mirror ? .mirrored : .edges))
    }

    private mutating func overlay(_ opacity: Double, x: Int = 0, y: Int = 0, isTiled: Bool = false) {
        defer { nextAddition += 1 }
        let additions = image.source.additions
        guard additions.indices ~= nextAddition else { return }
        let size = additions[nextAddition].size
        let percent = Int((min(1, abs(opacity)) * 100).rounded())
        guard percent > 0,
            let layout = OverlayLayout(scaledSize: size, x: max(0, x), y: max(0, y), on: image.size, isTiled: isTiled)
        else { return }
        image.overlay(nextAddition, scaledTo: size, layout: layout, opacity: percent)
    }
}

extension ImaginaryPlanBuilder {
    private mutating func turnUpright() {
        image.turn(missingTurn)
        missingTurn = .none
    }
}
