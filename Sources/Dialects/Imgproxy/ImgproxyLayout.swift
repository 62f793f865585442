import Recipes

/// Sizes between the steps, computed in imgproxy's order of floating-point operations, so that halves round equally.
///
/// A size of 0 means that the step is absent.
struct ImgproxyLayout: Hashable, Sendable {
    enum Prescaling: Hashable, Sendable {
        case none
        /// Reduces by 2, 4 or 8 and rounds up, as JPEG decoders do.
        case powers
        /// Reduces by any factor and rounds to nearest, as WebP decoders do.
        case anyFactor
    }

    private(set) var cropSize: PixelSize
    private(set) var resizedSize = PixelSize(width: 0, height: 0)
    private(set) var keptSize = PixelSize(width: 0, height: 0)
    private(set) var boxSize = PixelSize(width: 0, height: 0)
    private(set) var proportionalSize = PixelSize(width: 0, height: 0)
    private(set) var ratio = 1.0
    private let options: ImgproxyOptions
    private let cropped: PixelSize
    private var scaleX = 1.0
    private var scaleY = 1.0

    /// - Parameter source: The size after all turns.
    init(_ options: ImgproxyOptions, source: PixelSize, isDrawing: Bool = false, prescaling: Prescaling = .none) {
        self.options = options
        cropSize = PixelSize(
            width: Self.cropSide(options.cropWidth, of: source.width),
            height: Self.cropSide(options.cropHeight, of: source.height))
        cropped = cropSize.orLess(than: source)
        scale(enlarging: options.enlarges || isDrawing)
        setSizes()
        limit()
        resizedSize = prescaledSize(of: source, by: prescaling)
    }

    /// Returns the cropped side: pixels if `value` is at least 1, otherwise a fraction; 0 keeps the whole side.
    private static func cropSide(_ value: Double, of side: Int) -> Int {
        if value == 0 { return 0 }
        return value >= 1 ? pixels(value.rounded(.down)) : max(1, pixels(Double(side) * value))
    }

    private mutating func scale(enlarging: Bool) {
        let width = Double(cropped.width)
        let height = Double(cropped.height)
        var shrinkX = options.width == 0 ? 1 : width / Double(options.width)
        var shrinkY = options.height == 0 ? 1 : height / Double(options.height)
        if shrinkX != 1 || shrinkY != 1 {
            let type = options.resizingType.resolved(cropped, width: options.width, height: options.height)
            switch type {
            case .force: break
            case _ where options.width == 0: shrinkX = shrinkY
            case _ where options.height == 0: shrinkY = shrinkX
            case .fit: (shrinkX, shrinkY) = (max(shrinkX, shrinkY), max(shrinkX, shrinkY))
            case .fill, .fillDown, .auto: (shrinkX, shrinkY) = (min(shrinkX, shrinkY), min(shrinkX, shrinkY))
            }
        }
        shrinkX /= options.zoomX
        shrinkY /= options.zoomY
        ratio = options.ratio
        if !enlarging {
            let minimum = min(shrinkX, shrinkY)
            if minimum < 1 {
                shrinkX /= minimum
                shrinkY /= minimum
                // Without a canvas, reset the ratio: it would shrink an image further that is already smaller than its
                // box. On a canvas, the image keeps its proportion to the canvas.
                if !options.extend.isOn { ratio /= minimum }
            }
            ratio = min(ratio, min(shrinkX, shrinkY))
        }
        if options.minimumWidth > 0 {
            let maximum = width / Double(options.minimumWidth)
            if maximum < shrinkX {
                shrinkY /= shrinkX / maximum
                shrinkX = maximum
            }
        }
        if options.minimumHeight > 0 {
            let maximum = height / Double(options.minimumHeight)
            if maximum < shrinkY {
                shrinkX /= shrinkY / maximum
                shrinkY = maximum
            }
        }
        scaleX = 1 / min(shrinkX / ratio, width)
        scaleY = 1 / min(shrinkY / ratio, height)
    }

    private mutating func setSizes() {
        boxSize = PixelSize(
            width: pixels(Double(options.width) * (ratio * options.zoomX)),
            height: pixels(Double(options.height) * (ratio * options.zoomY)))
        resizedSize = PixelSize(
            width: max(1, pixels(Double(cropped.width) * scaleX)),
            height: max(1, pixels(Double(cropped.height) * scaleY)))
        keptSize = boxSize
        if options.resizingType == .fillDown, !options.enlarges {
            let across = Double(boxSize.width) / Double(resizedSize.width)
            let down = Double(boxSize.height) / Double(resizedSize.height)
            if across > down, across > 1 {
                keptSize = PixelSize(
                    width: resizedSize.width,
                    height: Self.side(resizedSize.width, times: boxSize.height, of: boxSize.width))
            } else if down > across, down > 1 {
                keptSize = PixelSize(
                    width: Self.side(resizedSize.height, times: boxSize.width, of: boxSize.height),
                    height: resizedSize.height)
            }
        }
        proportionalSize = PixelSize(width: 0, height: 0)
        guard options.extendRatio.isOn, boxSize.width > 0, boxSize.height > 0 else { return }
        let out = keptSize.orLess(than: resizedSize)
        let across = Double(boxSize.width) / Double(out.width)
        let down = Double(boxSize.height) / Double(out.height)
        if down > across {
            proportionalSize = PixelSize(
                width: out.width, height: Self.side(out.width, times: boxSize.height, of: boxSize.width))
        } else if across > down {
            proportionalSize = PixelSize(
                width: Self.side(out.height, times: boxSize.width, of: boxSize.height), height: out.height)
        }
    }

    private static func side(_ side: Int, times numerator: Int, of denominator: Int) -> Int {
        pixels(Double(side) * (Double(numerator) / Double(denominator)))
    }

    private mutating func limit() {
        guard options.maximumSide > 0 else { return }
        var out = keptSize.orLess(than: resizedSize)
        if options.extend.isOn {
            out = PixelSize(width: max(out.width, boxSize.width), height: max(out.height, boxSize.height))
        } else if options.extendRatio.isOn {
            out = PixelSize(
                width: max(out.width, proportionalSize.width), height: max(out.height, proportionalSize.height))
        }
        let margins = margins
        let longest = max(out.width + margins.left + margins.right, out.height + margins.top + margins.bottom)
        guard longest > options.maximumSide else { return }
        let factor = Double(options.maximumSide) / Double(longest)
        scaleX = max(scaleX * factor, 1 / Double(cropped.width))
        scaleY = max(scaleY * factor, 1 / Double(cropped.height))
        ratio *= factor
        setSizes()
    }

    private func prescaledSize(of source: PixelSize, by prescaling: Prescaling) -> PixelSize {
        let whole = PixelSize(
            width: pixels(Double(source.width) * scaleX), height: pixels(Double(source.height) * scaleY))
        var shrink = min(
            Double(source.width) / Double(max(1, whole.width)), Double(source.height) / Double(max(1, whole.height)))
        if prescaling == .powers { shrink = [8, 4, 2].first { shrink >= $0 } ?? 1 }
        guard prescaling != .none, shrink > 1 else { return resizedSize }
        func side(_ side: Int, crop: Int, scale: Double) -> Int {
            let loaded =
                prescaling == .powers
                ? (side + Int(shrink) - 1) / Int(shrink) : max(1, pixels(Double(side) * (1 / shrink)))
            let reached = Double(side) / Double(loaded)
            var scale = scale * reached
            if loaded == pixels(Double(loaded) * scale) { scale = 1 }
            let croppedSide = crop > 0 ? min(loaded, max(1, pixels(Double(crop) / reached))) : loaded
            return max(1, pixels(Double(croppedSide) * scale))
        }
        return PixelSize(
            width: side(source.width, crop: cropSize.width, scale: scaleX),
            height: side(source.height, crop: cropSize.height, scale: scaleY))
    }

    var margins: ImageOperations.Margins {
        func side(_ value: Int) -> Int { pixels(evenly: Double(value) * ratio) }
        let padding = options.padding
        return ImageOperations.Margins(
            top: side(padding.top), right: side(padding.right), bottom: side(padding.bottom), left: side(padding.left))
    }
}

extension PixelSize {
    /// Returns the size, limited to `whole`, which also replaces sides of 0.
    func orLess(than whole: PixelSize) -> PixelSize {
        PixelSize(
            width: width == 0 ? whole.width : min(width, whole.width),
            height: height == 0 ? whole.height : min(height, whole.height))
    }
}

extension ImgproxyOptions.ResizingType {
    /// Resolves ``auto`` to ``fill`` if source and box have the same orientation; a square counts as landscape.
    fileprivate func resolved(_ cropped: PixelSize, width: Int, height: Int) -> Self {
        guard self == .auto else { return self }
        let isLandscape = cropped.width >= cropped.height
        let isBoxLandscape = (width == 0 ? cropped.width : width) >= (height == 0 ? cropped.height : height)
        return isLandscape == isBoxLandscape ? .fill : .fit
    }
}
