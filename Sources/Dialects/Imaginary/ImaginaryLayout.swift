import Glibc
import Recipes

struct ImaginaryLayout {
    enum BoxStep: Equatable {
        case none
        case crop(CropStep)
        case interest(PixelSize)
        case bars(PixelSize)
    }

    private(set) var zoomed: PixelSize
    private(set) var scaled: PixelSize
    private(set) var boxStep = BoxStep.none

    /// The upper bound for intermediate sizes of a pipeline, so that products of sides do not overflow.
    ///
    /// The final size has a much lower limit, so intermediate sizes need not be exact above this.
    private static let longestSide = 100_000_000

    init(_ operation: ImaginaryOperation, on source: PixelSize) throws(ImagingError) {
        zoomed = source
        scaled = source
        let options = operation.options
        if operation.name == .fit {
            scaled = Self.fitted(source, in: Self.bounded(options.box))
            return
        }
        let crops = operation.crops
        let embeds = options.isEmbedded || operation.name == .resize
        let enlarges = operation.name == .enlarge
        var box = Self.bounded(options.box)
        let isPlain = !crops && !embeds && !enlarges && options.rotate == 0 && (box.width > 0 || box.height > 0)
        let isForced = options.isForced || isPlain

        if operation.name == .zoom {
            let factor = min(max(0, options.factor), Self.longestSide / max(source.width, source.height))
            zoomed = PixelSize(width: source.width * (factor + 1), height: source.height * (factor + 1))
        }
        var factor = Self.complete(&box, of: source, crops: crops)
        if !enlarges, !isForced, source.width < box.width, source.height < box.height {
            factor = 1
            box = source
        }
        scaled = isForced ? box.atLeastOne : Self.size(zoomed, by: factor)
        boxStep = try boxStep(of: operation, in: box, crops: crops && !isForced, embeds: embeds && !isForced)
    }

    private func boxStep(
        of operation: ImaginaryOperation, in box: PixelSize, crops: Bool, embeds: Bool
    ) throws(ImagingError) -> BoxStep {
        let options = operation.options
        let isWithin = scaled.width <= box.width && scaled.height <= box.height
        let cropped = PixelSize(width: min(scaled.width, box.width), height: min(scaled.height, box.height)).atLeastOne
        if operation.isSmart { return isWithin ? .none : .interest(cropped) }
        if crops {
            return isWithin ? .none : .crop(CropStep(to: cropped, of: scaled, at: options.gravity, rounding: .up))
        }
        if embeds { return isWithin && scaled != box ? .bars(box) : .none }
        guard operation.name == .extract || operation.name == .zoom && operation.cropsZoomed else { return .none }
        let part = PixelSize(
            width: options.areaWidth == 0 ? box.width : options.areaWidth,
            height: options.areaHeight == 0 ? box.height : options.areaHeight)
        guard options.left >= 0, options.top >= 0, part.width > 0, part.height > 0,
            part.width <= scaled.width - options.left, part.height <= scaled.height - options.top
        else { throw .cropOutside(scaled) }
        return part == scaled ? .none : .crop(CropStep(x: options.left, y: options.top, size: part))
    }

    /// Returns the factor by which the image shrinks.
    private static func complete(_ box: inout PixelSize, of source: PixelSize, crops: Bool) -> Double {
        let across = Double(source.width) / Double(max(1, box.width))
        let down = Double(source.height) / Double(max(1, box.height))
        switch (box.width > 0, box.height > 0) {
        case (true, true): return crops ? min(across, down) : max(across, down)
        case (true, false):
            box.height = crops ? source.height : side(source.height, by: across)
            return crops ? 1 : across
        case (false, true):
            box.width = crops ? source.width : side(source.width, by: down)
            return crops ? 1 : down
        case (false, false):
            box = source
            return 1
        }
    }

    private static func fitted(_ source: PixelSize, in box: PixelSize) -> PixelSize {
        let box = box.atLeastOne
        var fitted = box
        if source.width * box.height > box.width * source.height {
            fitted.height = Int((Double(box.width) * Double(source.height) / Double(source.width)).rounded())
        } else {
            fitted.width = Int((Double(box.height) * Double(source.width) / Double(source.height)).rounded())
        }
        return fitted.width >= source.width && fitted.height >= source.height ? source : fitted.atLeastOne
    }

    private static func size(_ size: PixelSize, by factor: Double) -> PixelSize {
        PixelSize(width: side(size.width, by: factor), height: side(size.height, by: factor))
    }

    private static func side(_ length: Int, by factor: Double) -> Int {
        Int(min(max(1, (Double(length) / factor + 0.5).rounded(.down)), Double(longestSide)))
    }

    private static func bounded(_ box: PixelSize) -> PixelSize {
        PixelSize(width: min(box.width, longestSide), height: min(box.height, longestSide))
    }
}

extension ImaginaryOperation {
    fileprivate var crops: Bool {
        switch name {
        case .crop, .smartcrop: true
        case .resize: options.isUncropped == false
        case .enlarge: options.isUncropped != true
        case .zoom: cropsZoomed && options.isUncropped == false
        default: false
        }
    }

    fileprivate var isSmart: Bool { name == .smartcrop || options.gravity == .attention }
}

extension PixelSize {
    fileprivate var atLeastOne: PixelSize { PixelSize(width: max(1, width), height: max(1, height)) }
}
