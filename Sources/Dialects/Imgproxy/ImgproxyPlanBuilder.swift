import Glibc
import Recipes

/// Crop to the box, filters, canvas, margins, background, watermark.
struct ImgproxyPlanBuilder {
    private let options: ImgproxyOptions
    private let layout: ImgproxyLayout
    private let isFlattened: Bool
    private let backgroundColor: Color
    private(set) var image: PlannedImage

    init(options: ImgproxyOptions, layout: ImgproxyLayout, format: ImageFormat, image: PlannedImage) {
        self.options = options
        self.layout = layout
        self.image = image
        isFlattened = options.background != nil || !format.supportsAlpha
        backgroundColor = isFlattened ? options.background ?? .white : .transparent
    }

    private var size: PixelSize { image.size }

    mutating func addStepsAfterResize() {
        let sourceHasAlpha = image.hasAlpha
        crop()
        blurSharpenAndPixelate()
        if options.extend.isOn { extend(to: layout.boxSize, by: options.extend.gravity) }
        if options.extendRatio.isOn, layout.proportionalSize.width > 0 {
            extend(to: layout.proportionalSize, by: options.extendRatio.gravity)
        }
        if options.hasPadding { image.apply(MarginStep(layout.margins, color: backgroundColor)) }
        if isFlattened, sourceHasAlpha { image.apply(BackgroundStep(backgroundColor)) }
    }

    mutating func flattenIfNeeded(by format: ImageFormat) {
        if !format.supportsAlpha, image.hasAlpha { image.apply(BackgroundStep(.white)) }
    }

    mutating func shrink(into format: ImageFormat, within limits: ImagingLimits) {
        guard !limits.allow(size, in: format), size.area <= limits.maximumOutputPixels else { return }
        let scale = min(
            1, Double(format.maximumSide) / Double(max(size.width, size.height)),
            (Double(limits.maximumFramePixels(of: format)) / Double(size.area)).squareRoot())
        func scaled(_ side: Int) -> Int { max(1, Int(Double(side) * scale)) }
        image.resample(to: PixelSize(width: scaled(size.width), height: scaled(size.height)))
    }

    private mutating func crop() {
        guard layout.keptSize != PixelSize(width: 0, height: 0) else { return }
        let cropped = layout.keptSize.orLess(than: size)
        guard cropped != size else { return }
        if options.gravity.kind == .smart {
            image.apply(InterestStep(.attention, size: cropped))
        } else if options.gravity.kind == .faces {
            image.cropToFaces(cropped)
        } else {
            let corner = options.gravity.corner(of: cropped, on: size, ratio: layout.ratio)
            image.crop(CropStep(x: corner.x, y: corner.y, size: cropped))
        }
    }

    private mutating func blurSharpenAndPixelate() {
        let blur = ImgproxyFilters.deviation(ofBlur: options.blur)
        if blur > 0 { image.apply(GaussianStep(.blur, sigma: blur)) }
        let sharpen = ImgproxyFilters.deviation(ofSharpen: options.sharpen)
        if sharpen > 0 { image.apply(GaussianStep(.sharpen, sigma: sharpen)) }
        let side = min(options.pixelate, max(size.width, size.height))
        if side > 1 { image.apply(MosaicStep(side: side)) }
    }

    private mutating func extend(to box: PixelSize, by gravity: ImgproxyGravity) {
        let canvas = PixelSize(width: max(box.width, size.width), height: max(box.height, size.height))
        let corner = gravity.corner(of: size, on: canvas, ratio: layout.ratio)
        image.place(on: canvas, x: corner.x, y: corner.y, fill: .color(backgroundColor))
    }
}

extension ImgproxyPlanBuilder {
    mutating func overlayWatermark(opacity: Double) {
        let watermark = options.watermark
        let percent = pixels(100 * watermark.opacity * opacity)
        guard percent > 0, let sourceSize = image.source.additions.first?.size else { return }
        let scaled = scaledSize(of: sourceSize)
        let margins = watermark.gravity.kind == .tiles ? tileMargins : ImageOperations.Margins()
        let tile = PixelSize(
            width: scaled.width + margins.left + margins.right, height: scaled.height + margins.top + margins.bottom)
        guard let layout = overlay(of: tile) else { return }
        image.overlay(0, scaledTo: scaled, layout: layout, opacity: min(100, percent), margins: margins)
    }

    private var tileMargins: ImageOperations.Margins {
        func halves(_ offset: Double, of side: Int) -> (Int, Int) {
            // A larger distance would hide the second tile anyway.
            let distance = min(max(0, ImgproxyGravity.distance(offset, of: side, ratio: layout.ratio)), side)
            return (distance / 2, distance - distance / 2)
        }
        let (left, right) = halves(options.watermark.gravity.x, of: size.width)
        let (top, bottom) = halves(options.watermark.gravity.y, of: size.height)
        return ImageOperations.Margins(top: top, right: right, bottom: bottom, left: left)
    }

    private func scaledSize(of sourceSize: PixelSize) -> PixelSize {
        guard options.watermark.scale > 0 else { return sourceSize }
        let width = max(1, pixels(evenly: Double(size.width) * options.watermark.scale))
        let height = max(1, pixels(evenly: Double(size.height) * options.watermark.scale))
        let shrink = max(Double(sourceSize.width) / Double(width), Double(sourceSize.height) / Double(height))
        func side(_ side: Int) -> Int { max(1, pixels(Double(side) * (1 / min(shrink, Double(side))))) }
        return PixelSize(width: side(sourceSize.width), height: side(sourceSize.height))
    }

    private func overlay(of scaled: PixelSize) -> OverlayLayout? {
        let gravity = options.watermark.gravity
        guard gravity.kind == .tiles else {
            let corner = gravity.corner(of: scaled, on: size, ratio: layout.ratio, mayOverhang: true)
            return OverlayLayout(scaledSize: scaled, x: corner.x, y: corner.y, on: size)
        }
        return OverlayLayout(
            scaledSize: scaled, x: Self.firstTile(scaled.width, in: size.width),
            y: Self.firstTile(scaled.height, in: size.height), on: size, isTiled: true)
    }

    private static func firstTile(_ tile: Int, in side: Int) -> Int {
        let count = (side + tile - 1) / tile | 1
        return -((count * tile - side) / 2)
    }
}

enum ImgproxyFilters {
    /// The relative weight below which libvips truncates a kernel.
    private static let minimumWeight = 0.2
    /// The largest deviation in pixels.
    private static let maximum = 800.0
    private static let maximumExact = 64.0
    private static let cutShare = 0.831

    /// Returns the deviation of the truncated kernel, in hundred-thousandths of a pixel; 0 if the blur has no effect.
    static func deviation(ofBlur sigma: Double) -> Int {
        guard sigma > 0 else { return 0 }
        let sigma = min(sigma, maximum)
        if sigma > maximumExact { return units(sigma * cutShare) }
        var sum = 1.0
        var squares = 0.0
        var distance = 1.0
        while true {
            let weight = exp(-distance * distance / (2 * sigma * sigma))
            if weight < minimumWeight { break }
            sum += 2 * weight
            squares += 2 * weight * distance * distance
            distance += 1
        }
        return units((squares / sum).squareRoot())
    }

    /// Returns the deviation of the blur for sharpening, in hundred-thousandths of a pixel; 0 if it has no effect.
    static func deviation(ofSharpen sigma: Double) -> Int { sigma <= 0.3 ? 0 : units(min(sigma, maximum)) }

    /// Converts pixels to hundred-thousandths.
    private static func units(_ value: Double) -> Int { Int((value * 100_000).rounded()) }
}
