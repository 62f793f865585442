import Recipes

/// Sizes before thumbor's filters; halves round to even, or up if the image is fitted into the box.
struct ThumborLayout: Hashable {
    /// The part to keep, in pixels of the turned image.
    private(set) var part: ImageRegion
    private(set) var size: PixelSize
    /// The size of the most interesting part of the resampled image; nil for no crop.
    private(set) var interest: PixelSize?
    private(set) var box: PixelSize

    /// Exceeds all limits, but is small enough that products of sides do not overflow.
    static let maximumSide = 20_000_000

    /// - Parameter available: The turned image, or its part that a trim left.
    init(_ geometry: ThumborGeometry, of available: ImageRegion, parent: PixelSize? = nil) {
        part = geometry.crop.flatMap { $0.part(of: available) } ?? available
        size = part.size
        func pixels(_ side: ThumborGeometry.Side, sourceSide: Int, parent: Int?, maximum: Int) -> Int {
            let pixels =
                switch side {
                case .automatic: 0
                case .pixels(let pixels): pixels
                case .original: sourceSide
                case .parent(let less): max(0, (parent ?? 0) - less)
                }
            return min(geometry.isEnlargingForbidden ? min(pixels, maximum) : pixels, Self.maximumSide)
        }
        box = PixelSize(
            width: pixels(
                geometry.width, sourceSide: part.size.width, parent: parent?.width, maximum: available.whole.width),
            height: pixels(
                geometry.height, sourceSide: part.size.height, parent: parent?.height, maximum: available.whole.height))
        guard box.width > 0 || box.height > 0 else { return }
        var target = box
        if target.width == 0 { target.width = Self.roundEven(box.height * part.size.width, by: part.size.height) }
        if target.height == 0 { target.height = Self.roundEven(box.width * part.size.height, by: part.size.width) }
        if let fitIn = geometry.fitIn {
            fit(fitIn, into: target)
        } else {
            target = PixelSize(width: max(1, target.width), height: max(1, target.height))
            if !geometry.isStretched { cut(to: target, geometry: geometry) } else { size = target }
        }
    }

    private mutating func fit(_ fitIn: ThumborGeometry.FitIn, into fitBox: PixelSize) {
        var target = fitBox
        let partSize = part.size
        let isTurned =
            partSize.width < partSize.height && target.width > target.height
            || partSize.width > partSize.height && target.width < target.height
        if fitIn.isAdaptive, isTurned {
            target = target.exchanged
            box = box.exchanged
        }
        if !fitIn.isFull, target.width >= partSize.width, target.height >= partSize.height { return }
        // Compare the ratios of widths and heights without division.
        let across = partSize.width * target.height
        let down = partSize.height * target.width
        if fitIn.isFull ? across <= down : across >= down {
            size = PixelSize(
                width: target.width, height: Self.roundUp(partSize.height * target.width, by: partSize.width))
        } else {
            size = PixelSize(
                width: Self.roundUp(partSize.width * target.height, by: partSize.height), height: target.height)
        }
        size = PixelSize(width: max(1, size.width), height: max(1, size.height))
        box = PixelSize(width: max(box.width, size.width), height: max(box.height, size.height))
    }

    private mutating func cut(to target: PixelSize, geometry: ThumborGeometry) {
        size = target
        let partSize = part.size
        func ratio(_ size: PixelSize) -> Double {
            (Double(size.width) / Double(size.height) * 100).rounded(.toNearestOrEven)
        }
        guard ratio(partSize) != ratio(target) else { return }
        var cropped = partSize
        if target.width * partSize.height > target.height * partSize.width {
            cropped.height = max(1, Self.roundEven(partSize.width * target.height, by: target.width))
        } else {
            cropped.width = max(
                1, min(partSize.width, (target.width * partSize.height + target.height - 1) / target.height))
        }
        let focus = focus(of: geometry)
        if focus == nil, geometry.isSmart {
            interest = target
            size = PixelSize(
                width: max(target.width, Self.roundUp(partSize.width * target.width, by: cropped.width)),
                height: max(target.height, Self.roundUp(partSize.height * target.height, by: cropped.height)))
            return
        }
        func start(focus: Int?, alignment: ThumborGeometry.Alignment, side: Int, cropped: Int) -> Int {
            let middle: Int
            switch alignment {
            case _ where focus != nil: middle = focus ?? 0
            case .start: middle = 0
            case .middle: middle = side / 2
            case .end: middle = side
            }
            let start = min(max(Double(middle) - Double(cropped) / 2, 0), Double(side - cropped))
            return Int(start.rounded(.toNearestOrEven))
        }
        part = ImageRegion(
            x: part.x
                + start(focus: focus?.x, alignment: geometry.across, side: partSize.width, cropped: cropped.width),
            y: part.y
                + start(focus: focus?.y, alignment: geometry.down, side: partSize.height, cropped: cropped.height),
            size: cropped, of: part.whole)
    }

    /// Returns the mean of the focuses in pixels of the part, weighted by area.
    private func focus(of geometry: ThumborGeometry) -> (x: Int, y: Int)? {
        let left = Double(part.x)
        let top = Double(part.y)
        var sum = 0.0
        var x = 0.0
        var y = 0.0
        for focus in geometry.focuses {
            let (width, height) = focus.isFraction ? (Double(part.whole.width), Double(part.whole.height)) : (1, 1)
            let middleX = Double(focus.left + focus.right) / 2_000_000 * width
            let middleY = Double(focus.top + focus.bottom) / 2_000_000 * height
            let isWithin =
                middleX >= left && middleX <= left + Double(part.size.width) && middleY >= top
                && middleY <= top + Double(part.size.height)
            let weight = Double(focus.right - focus.left) * width * Double(focus.bottom - focus.top) * height / 1e12
            guard isWithin, weight > 0 else { continue }
            sum += weight
            x += (middleX - left) * weight
            y += (middleY - top) * weight
        }
        return sum > 0 ? (Int(x / sum), Int(y / sum)) : nil
    }

    /// Rounds halves to even, and clips to the maximum side.
    private static func roundEven(_ dividend: Int, by divisor: Int) -> Int {
        min(Int((Double(dividend) / Double(divisor)).rounded(.toNearestOrEven)), maximumSide)
    }

    /// Rounds halves up, and clips to the maximum side.
    private static func roundUp(_ dividend: Int, by divisor: Int) -> Int {
        min((2 * dividend + divisor) / (2 * divisor), maximumSide)
    }
}

extension ThumborGeometry.Crop {
    fileprivate func part(of available: ImageRegion) -> ImageRegion? {
        func pixels(_ length: ThumborGeometry.Length, of side: Int) -> Int {
            switch length {
            case .pixels(let pixels): min(pixels, side)
            case .fraction(let share): (share * side + 500_000) / 1_000_000
            }
        }
        let whole = available.whole
        let isShare = [left, top, right, bottom].contains { if case .fraction = $0 { true } else { false } }
        func edge(_ length: ThumborGeometry.Length, of side: Int) -> Int {
            // A fraction of 1 is the whole side.
            if isShare, case .pixels(let pixels) = length, pixels <= 1 { return pixels * side }
            return pixels(length, of: side)
        }
        let x = max(edge(left, of: whole.width), available.x)
        let y = max(edge(top, of: whole.height), available.y)
        let end = (
            x: min(edge(right, of: whole.width), available.x + available.size.width),
            y: min(edge(bottom, of: whole.height), available.y + available.size.height)
        )
        guard x < end.x, y < end.y else { return nil }
        return ImageRegion(x: x, y: y, size: PixelSize(width: end.x - x, height: end.y - y), of: whole)
    }
}
