import Imaging

/// An image on its way through operations: what is decoded of it, and the steps that follow.
///
/// As long as it is only turned and cut, and resampled once, the decoder does as much of it as it can; the rest become
/// steps in their order.
struct ImaginaryFrame {
    private let header: ImageHeader
    private let whole: ImagePart
    /// From the stored image to the upright one.
    private let upright: QuarterTurn
    /// From the stored image to this one, without steps.
    private var turn: QuarterTurn
    /// The turn that this image lacks to be upright.
    private var missingTurn: QuarterTurn
    /// The part that is kept, in pixels of the upright image.
    private var part: ImagePart
    /// The size after the decode and the resample; nil as long as it is that of the part.
    private var size: PixelSize?
    private var steps: RenderSteps = []
    /// The image after these steps.
    private var shape: FrameShape
    private var quality = ImaginaryOptions.standardQuality
    /// The format that operations asked for; nil for the source's own.
    private var format: ImageFormat?
    private let additions: [ImageHeader]
    private var used: [RecipeAddition?]
    /// The additional source that the next operation with a mark uses.
    private(set) var nextAddition = 0

    /// An image as it is stored, or upright if its format knows no other way.
    init(_ source: RecipeSource) {
        header = source.header.page(0)
        whole = source.whole()
        part = whole
        upright = header.orientation
        let isTurnedByDecoders = header.format == .heic || header.format == .avif
        turn = isTurnedByDecoders ? upright : .none
        missingTurn = isTurnedByDecoders ? .none : upright
        let own = isTurnedByDecoders ? whole.size : upright.inverse.turned(whole.size)
        shape = FrameShape(size: own, hasAlpha: header.hasAlpha)
        additions = source.additions
        used = additions.map { _ in nil }
    }

    /// The way to make the image.
    ///
    /// - Throws: ``ImagingError/formatNotAccepted(_:)`` for a source whose format is not written, if no operation asks
    ///   for another one.
    func composition(of source: RecipeSource) throws(ImagingError) -> Composition {
        if format == nil, [.gif, .svg].contains(header.format) { throw .formatNotAccepted(header.format) }
        let decodedSize = upright.inverse.then(turn).turned(part.size)
        var composition = Composition(
            size: size ?? decodedSize,
            format: format
                ?? source.firstFit(of: [header.format.answer(hasAlpha: shape.hasAlpha)], hasAlpha: shape.hasAlpha),
            quality: .fixed(quality))
        if part != whole { composition.part = part }
        composition.turn = upright.inverse.then(turn)
        composition.steps = steps
        composition.additions = used
        return composition
    }
}

extension ImaginaryFrame {
    /// Does an operation.
    ///
    /// - Throws: ``ImagingError/cropOutside(_:)``.
    mutating func apply(_ operation: ImaginaryOperation) throws(ImagingError) {
        let options = operation.options
        guard operation.name != .autorotate else {
            turnUpright()
            quality = ImaginaryOptions.standardQuality
            return
        }
        if options.rotate > 0 {
            missingTurn = .none
            turn(by: QuarterTurn(quarters: min(options.rotate, 270) / 90))
        } else if !options.keepsOrientation {
            turnUpright()
        }
        if options.mirrorsX || operation.name == .flip { turn(by: .mirrorX) }
        if options.mirrorsY || operation.name == .flop { turn(by: .mirrorY) }

        let layout = try ImaginaryLayout(operation, on: shape.size)
        if layout.zoomed != shape.size { add(ZoomStep(factor: layout.zoomed.width / shape.size.width)) }
        if layout.scaled != shape.size { resample(to: layout.scaled) }
        switch layout.rest {
        case .nothing: break
        case .cut(let cut): crop(cut)
        case .interest(let size): add(InterestStep(.attention, size: size))
        case .bars(let size): addBars(to: size, options)
        }
        let sigma = Int((min(options.sigma, Self.widestBlur) * 100_000).rounded())
        if sigma > 0 { add(GaussianStep(.blur, sigma: sigma)) }
        switch operation.name {
        case .watermarkimage: lay(options.opacity == 0 ? 1 : options.opacity, x: options.left, y: options.top)
        case .watermark: lay(options.opacity == 0 ? 0.25 : options.opacity, isTiled: !options.isSingle)
        default: break
        }
        finish(operation)
    }

    /// Counts the mark of an operation that is left out.
    mutating func skip(_ operation: ImaginaryOperation) {
        if operation.mark != nil { nextAddition += 1 }
    }

    /// Blurs above this, in pixels, leave one color in any case.
    private static let widestBlur = 1_000.0

    /// Drops all that the file of an operation could not hold: it is gone for those after it.
    private mutating func finish(_ operation: ImaginaryOperation) {
        format = operation.format ?? format
        quality = operation.options.usedQuality
        if shape.hasAlpha {
            if let background = operation.options.background {
                add(BackgroundStep(background))
            } else if format?.supportsAlpha == false {
                add(BackgroundStep(.black))
            }
        }
        if operation.options.isGrey { add(ColorMapStep(.grey)) }
    }

    private mutating func addBars(to size: PixelSize, _ options: ImaginaryOptions) {
        let x = (size.width - shape.size.width) / 2
        let y = (size.height - shape.size.height) / 2
        if let color = options.barColor(hasAlpha: shape.hasAlpha) {
            add(CanvasStep(size: size, x: x, y: y, color: color))
        } else {
            add(BackdropStep(options.bars == .mirror ? .mirrored : .edges, size: size, x: x, y: y))
        }
    }

    /// Lays the next additional source on the image, in its own size.
    private mutating func lay(_ opacity: Double, x: Int = 0, y: Int = 0, isTiled: Bool = false) {
        defer { nextAddition += 1 }
        guard additions.indices ~= nextAddition else { return }
        let mark = additions[nextAddition]
        let percent = Int((min(1, abs(opacity)) * 100).rounded())
        guard percent > 0,
            let layout = OverlayLayout(
                scaledSize: mark.size, x: max(0, x), y: max(0, y), on: shape.size, isTiled: isTiled)
        else { return }
        let addition = RecipeAddition(mark, scaledTo: mark.size)
        used[nextAddition] = addition
        add(
            OverlayStep(
                of: nextAddition, layout: layout, decoded: addition.decoded, opacity: percent, light: .gamma))
    }
}

extension ImaginaryFrame {
    private mutating func turnUpright() {
        turn(by: missingTurn)
        missingTurn = .none
    }

    private mutating func turn(by next: QuarterTurn) {
        guard next != .none else { return }
        guard size == nil, steps.isEmpty else { return add(TurnStep(next)) }
        turn = turn.then(next)
        shape = FrameShape(size: next.turned(shape.size), hasAlpha: shape.hasAlpha)
    }

    private mutating func resample(to wanted: PixelSize) {
        guard size == nil, steps.isEmpty else { return add(ResampleStep(to: wanted)) }
        size = wanted
        shape = FrameShape(size: wanted, hasAlpha: shape.hasAlpha)
    }

    private mutating func crop(_ cut: CropStep) {
        guard size == nil, steps.isEmpty else { return add(cut) }
        // The part of the turned image, as a part of the upright one.
        let back = upright.inverse.then(turn).inverse
        let inner = back.turned(ImagePart(x: cut.x, y: cut.y, size: cut.size, of: shape.size))
        part = ImagePart(x: part.x + inner.x, y: part.y + inner.y, size: inner.size, of: part.whole)
        shape = FrameShape(size: cut.size, hasAlpha: shape.hasAlpha)
    }

    private mutating func add(_ step: some RenderStep) {
        steps.append(step)
        shape = step.shape(after: shape)
    }
}
