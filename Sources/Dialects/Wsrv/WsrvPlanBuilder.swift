import Glibc
import Recipes

struct WsrvPlanBuilder {
    let options: WsrvOptions
    private var box: PixelSize
    let frames: Int
    private static let longestSide = 100_000_000.0
    private(set) var image: PlannedImage

    /// - Parameter stored: The stored size of the source, with all kept frames stacked.
    init(_ options: WsrvOptions, of image: PlannedImage, stored: PixelSize, frames: Int) {
        self.options = options
        self.image = image
        self.frames = frames
        box = options.box(for: stored)
        let source = image.size
        let turn = options.turn
        self.image.turn(turn)
        let turned = self.image.size
        if options.isCroppedFirst == true {
            if let crop = crop(of: turned) { self.image.crop(crop) }
            self.image.resample(to: resized(self.image.size, in: self.image.size))
            cut(to: box, original: turned)
        } else {
            // Covering crops after the turn; otherwise the image is resized first and then turned.
            let requested = box
            if turn.exchangesSides, options.fit == .cover, box.width > 0, box.height > 0 { box = box.exchanged }
            self.image.resample(to: turn.turned(resized(source, in: reduced(source))))
            box = requested
            let isBoxTurned = turn.exchangesSides && (box.width == 0 || box.height == 0)
            cut(to: isBoxTurned ? box.exchanged : box, original: turned)
            if let crop = crop(of: size) { self.image.crop(crop) }
        }
        embed()
    }

    private var size: PixelSize { image.size }
    private var format: ImageFormat { image.source.header.format }
}

extension WsrvOptions {
    var turn: QuarterTurn {
        QuarterTurn(quarters: quarterTurns).then(flop ?? false ? .mirrorX : .none).then(
            flip ?? false ? .mirrorY : .none)
    }
}

extension WsrvPlanBuilder {
    private func resized(_ source: PixelSize, in reduced: PixelSize) -> PixelSize {
        let (across, down) = factors(reduced)
        // Still images are rounded half up, animations half to even.
        let rule: FloatingPointRoundingRule = frames > 1 ? .toNearestOrEven : .down
        // The factor becomes its reciprocal twice on its way to libvips.
        func divided(_ side: Int, _ factor: Double) -> Double { Double(side) / (1 / (1 / factor)) }
        let width = (divided(reduced.width, across) + 0.5).rounded(.down)
        let height = frames > 1 ? Double(reduced.height) / down : divided(reduced.height, down) + 0.5
        func side(_ length: Double) -> Int { Int(min(max(length, 1), Self.longestSide)) }
        return PixelSize(width: side(width), height: side(height.rounded(rule)))
    }

    private func factors(_ source: PixelSize) -> (across: Double, down: Double) {
        var across = 1.0
        var down = 1.0
        if box.width > 0 { across = Double(source.width) / Double(box.width) }
        if box.height > 0 { down = Double(source.height) / Double(box.height) }
        let fit = options.fit ?? .inside
        if fit != .fill {
            switch (box.width > 0, box.height > 0) {
            case (true, true):
                let common = fit == .cover || fit == .outside ? min(across, down) : max(across, down)
                across = common
                down = common
            case (true, false): down = across
            case (false, true): across = down
            case (false, false): break
            }
        }
        if options.isNeverEnlarged == true {
            across = max(1, across)
            down = max(1, down)
        }
        return (min(across, Double(source.width)), min(down, Double(source.height)))
    }

    /// Returns the size after shrinking on load, from which weserv computes the sides; a trim or gamma disables it.
    private func reduced(_ source: PixelSize) -> PixelSize {
        guard box.width > 0 || box.height > 0, options.trimTolerance == nil, (options.gamma ?? 0) == 0 else {
            return source
        }
        let (across, down) = factors(source)
        let factor = min(across, down)
        switch format {
        case .jpeg:
            let minimum = options.isReducedLess == true ? 2.0 : 1
            var divisor = [8, 4, 2].first { factor >= Double($0) * minimum } ?? 1
            if divisor > 1, Int(factor) == divisor { divisor /= 2 }
            func side(_ length: Int) -> Int { (length + divisor - 1) / divisor }
            return PixelSize(width: side(source.width), height: side(source.height))
        case .webp where factor > 1:
            func side(_ length: Int) -> Int { max(1, Int((Double(length) / factor).rounded(.toNearestOrEven))) }
            return PixelSize(width: side(source.width), height: side(source.height))
        default: return source
        }
    }
}

extension WsrvPlanBuilder {
    /// - Parameter original: The size of the whole image after its turn.
    private mutating func cut(to box: PixelSize, original: PixelSize) {
        guard options.fit == .cover else { return }
        let cropped = PixelSize(
            width: box.width > 0 ? min(box.width, size.width) : size.width,
            height: box.height > 0 ? min(box.height, size.height) : size.height)
        guard cropped != size else { return }
        let position = options.position ?? .center
        switch position {
        case .attention where frames == 1: image.apply(InterestStep(.attention, size: cropped))
        case .entropy where frames == 1: image.apply(InterestStep(.entropy, size: cropped))
        case .focal:
            let factor = min(
                Double(original.width) / Double(cropped.width), Double(original.height) / Double(cropped.height))
            func start(_ share: Float, of whole: Int, length: Int, in side: Int) -> Int {
                let middle = Double(share * Float(whole)) / factor
                let start = (middle - Double(length) / 2).rounded(.toNearestOrAwayFromZero)
                return Int(min(max(start, 0), Double(side - length)))
            }
            let point = options.focalPoint
            image.apply(
                CropStep(
                    x: start(point.x, of: original.width, length: cropped.width, in: size.width),
                    y: start(point.y, of: original.height, length: cropped.height, in: size.height), size: cropped))
        default: image.apply(CropStep(to: cropped, of: size, at: position.gravity))
        }
    }

    private func crop(of whole: PixelSize) -> CropStep? {
        guard options.cropX != nil || options.cropY != nil || options.cropWidth != nil || options.cropHeight != nil
        else { return nil }
        func span(_ start: WsrvLength?, _ length: WsrvLength?, of side: Int) -> (start: Int, length: Int) {
            let offset = start?.pixels(of: side) ?? 0
            let first = (0..<side).contains(offset) ? offset : 0
            let count = length?.pixels(of: side) ?? 0
            return (first, (1...(side - first)).contains(count) ? count : side - first)
        }
        let across = span(options.cropX, options.cropWidth, of: whole.width)
        let down = span(options.cropY, options.cropHeight, of: whole.height)
        return CropStep(x: across.start, y: down.start, size: PixelSize(width: across.length, height: down.length))
    }

    /// Puts the image on a canvas with the size of the box, and crops the rest.
    private mutating func embed() {
        guard options.fit == .contain else { return }
        let whole = size
        let canvas = PixelSize(
            width: box.width > 0 ? box.width : whole.width, height: box.height > 0 ? box.height : whole.height)
        var (x, y) = canvas.corner(of: whole, at: (options.position ?? .center).gravity)
        if options.position == .focal {
            func start(_ share: Float, _ slack: Int) -> Int {
                Int((Float(slack) * share).rounded(.toNearestOrAwayFromZero))
            }
            let point = options.focalPoint
            x = start(point.x, canvas.width - whole.width)
            y = start(point.y, canvas.height - whole.height)
        }
        image.place(on: canvas, x: x, y: y, fill: .color(options.barColor ?? .transparent))
    }
}
